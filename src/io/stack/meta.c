/*
 * What the first file says about the experiment, in the places where DECTRIS masters and NXmx
 * files have it.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/geometry_fields.h"
#include "base/memory.h"
#include "io/hdf5/probe.h"
#include "io/hdf5/list.h"
#include "io/hdf5/sources.h"
#include "io/stack/header_geometry.h"
#include "io/stack/internal.h"

enum { MAX_NAME = 512, MAX_NUMBERS = 1 << 20 };

struct number {
    double value;
    char units[32];          /* "" when the file does not say */
    char name[2 * MAX_NAME]; /* FILE::DATASET */
};

struct places {
    hid_t file;
    bool no_memory; /* for something that is there: what was found is not what the file says */
    bool quiet;     /* warns of nothing: the first file was warned of */
    struct airy_unusable unusable;
    char detector[MAX_NAME], instrument[MAX_NAME];
};

struct unit {
    const char *name; /* in lower case, singular */
    double factor;
};

static const struct unit lengths[] = {
    {"m", 1},
    {"metre", 1},
    {"meter", 1},
    {"cm", 1e-2},
    {"centimeter", 1e-2},
    {"centimetre", 1e-2},
    {"mm", 1e-3},
    {"millimeter", 1e-3},
    {"millimetre", 1e-3},
    {"um", 1e-6},
    {"micrometer", 1e-6},
    {"micrometre", 1e-6},
    {"\xc2\xb5m", 1e-6},
    {"\xce\xbcm", 1e-6},
    {"\xb5m", 1e-6}, /* Latin-1 */
    {"micron", 1e-6},
    {"nm", 1e-9},
    {"nanometer", 1e-9},
    {"nanometre", 1e-9},
    {"angstrom", 1e-10},
    {"\xc3\xa5ngstr\xc3\xb6m", 1e-10},
    {"\xc3\x85ngstr\xc3\xb6m", 1e-10},
    {"ang", 1e-10},
    {"a", 1e-10},
    {"\xc3\x85", 1e-10},
    {"\xe2\x84\xab", 1e-10}, /* U+212B */
    {"\xc5", 1e-10},         /* Latin-1 */
    {"pm", 1e-12},
    {"picometer", 1e-12},
    {"picometre", 1e-12},
};

/* To eV. e = 1.602176634e-19 C exactly: SI Brochure, 9th edition (2019). */
static const struct unit energies[] = {
    {"ev", 1},
    {"electronvolt", 1},
    {"electron volt", 1},
    {"kev", 1e3},
    {"kiloelectronvolt", 1e3},
    {"j", 1 / 1.602176634e-19},
    {"joule", 1 / 1.602176634e-19},
};

/*
 * 0 where it is none of them. Case and a plural's s do not count, but "Mm" and "Pm" are other
 * units.
 */
static double find_factor(const struct unit *units, size_t count, const char *name)
{
    const size_t length = strlen(name);
    if (length == 2 && name[0] >= 'A' && name[0] <= 'Z' && name[1] == 'm')
        return 0;
    for (size_t i = 0; i < count; i++) {
        const size_t n = strlen(units[i].name);
        const bool plural = n > 3 && length == n + 1 && (name[n] == 's' || name[n] == 'S');
        if ((length == n || plural) && strncasecmp(name, units[i].name, n) == 0)
            return units[i].factor;
    }
    return 0;
}

/* False (and a warning) for units that are not one string: a number of unknown size is not used. */
static bool read_units(struct number *number, struct places *places, hid_t dataset)
{
    char *text = NULL;
    number->units[0] = 0;
    const airy_status status = airy_hdf5_attribute_open(&text, dataset, "units");
    if (status == AIRY_OK) {
        size_t length = strlen(text);
        while (length > 0 && text[length - 1] == ' ') /* Fortran pads */
            length--;
        snprintf(number->units, sizeof(number->units), "%.*s",
                 (int)airy_min_size(length, sizeof(number->units)), text);
        free(text);
    } else if (status == AIRY_ERR_MEMORY) {
        places->no_memory = true;
    } else if (status != AIRY_ERR_NOT_FOUND && airy_probe_result(dataset) == AIRY_OK &&
               !places->quiet) {
        airy_log(AIRY_LOG_WARN, "%s: %s; it is not used", number->name, airy_last_error());
    }
    return status == AIRY_OK || status == AIRY_ERR_NOT_FOUND;
}

/* All elements of a numeric dataset as doubles; *count is at most MAX_NUMBERS. */
static bool read_all(double **values, size_t *count, struct places *places, hid_t dataset)
{
    const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    const hssize_t points = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    bool good = (class == H5T_INTEGER || class == H5T_FLOAT) && points >= 1 &&
                points <= MAX_NUMBERS;
    double *read = good ? malloc((size_t)points * sizeof(*read)) : NULL;
    places->no_memory |= good && !read;
    good = read && airy_chunk_check(dataset, NULL, NULL) == AIRY_OK &&
           airy_hdf5_read(dataset, AIRY_DTYPE_F64, H5S_ALL, H5S_ALL, read) >= 0;
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    if (!good) {
        free(read);
        return false;
    }
    *values = read;
    *count = (size_t)points;
    return true;
}

static void name_number(struct number *number, hid_t file, const char *path)
{
    const ssize_t n = H5Fget_name(file, number->name, sizeof(number->name));
    const size_t used = n < 0 ? 0 : airy_min_size((size_t)n, sizeof(number->name) - 1);
    snprintf(number->name + used, sizeof(number->name) - used, "::%s", path);
}

/* One number of the file: a scalar, or an array that says the same thing for all frames. */
static bool read_number(struct number *number, struct places *places, const char *path)
{
    if (!airy_hdf5_exists(places->file, path))
        return false;
    const hid_t dataset = airy_hdf5_dataset(places->file, path);
    if (dataset < 0)
        return false;
    double *values = NULL;
    size_t count = 0;
    bool good = read_all(&values, &count, places, dataset);
    name_number(number, places->file, path);
    for (size_t i = 1; good && i < count; i++)
        good = values[i] == values[0];
    if (values && !good && isnan(values[0]))
        airy_unusable_add(&places->unusable, "%s is nan", number->name);
    else if (values && !good)
        airy_unusable_add(&places->unusable, "%s has %zu different values", number->name, count);
    if (values && !good && !places->quiet)
        airy_log(AIRY_LOG_WARN, "%s has %zu different values, it is not used", number->name, count);
    if (good) {
        number->value = values[0];
        if (!isfinite(number->value))
            airy_unusable_add(&places->unusable, "%s is %g", number->name, number->value);
        good = isfinite(number->value) && read_units(number, places, dataset);
    }
    free(values);
    H5Dclose(dataset);
    return good;
}

static bool read_field(struct number *number, struct places *places, const char *group,
                       const char *name)
{
    char path[MAX_NAME];
    return snprintf(path, sizeof(path), "%s/%s", group, name) < (int)sizeof(path) &&
           read_number(number, places, path);
}

/*
 * To metres; without units in `usual` metres. False (and a warning) for a unit that is no length.
 */
static bool to_metres(double *out, struct places *places, const struct number *number, double usual)
{
    const double factor =
        number->units[0] ? find_factor(lengths, sizeof(lengths) / sizeof(lengths[0]), number->units)
                         : usual;
    if (factor == 0)
        airy_unusable_add(&places->unusable, "%s has units '%s'", number->name, number->units);
    if (factor == 0 && !places->quiet)
        airy_log(AIRY_LOG_WARN, "%s has units '%s', which is no known length; it is not used",
                 number->name, number->units);
    *out = number->value * factor;
    return factor != 0;
}

static void parent_of(char *out, size_t size, const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(out, size, "%.*s", slash ? (int)(slash - path) : 0, path);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* The usual group, or the only one that has a beam centre or a pixel mask. */
static bool find_places(struct places *places, hid_t file)
{
    *places = (struct places){.file = file};
    snprintf(places->detector, sizeof(places->detector), "/entry/instrument/detector");
    if (!airy_hdf5_exists(file, places->detector)) {
        airy_hdf5_entry *entries;
        size_t count;
        const airy_status status = airy_hdf5_list_open(&entries, &count, file);
        places->no_memory = status == AIRY_ERR_MEMORY;
        if (status != AIRY_OK)
            return false;
        places->detector[0] = 0;
        static const char *const marks[] = {"/beam_center_x", "/pixel_mask"};
        for (size_t m = 0; m < 2 && !places->detector[0]; m++)
            for (size_t i = 0; i < count && !places->detector[0]; i++)
                if (ends_with(entries[i].path, marks[m]))
                    parent_of(places->detector, sizeof(places->detector), entries[i].path);
        airy_hdf5_list_free(entries);
    }
    parent_of(places->instrument, sizeof(places->instrument), places->detector);
    return places->detector[0] != 0;
}

/* To the wavelength of photons of that energy; without units the energy is in eV. */
static bool energy_to_metres(double *metres, struct places *places, const struct number *energy)
{
    const double factor =
        energy->units[0]
            ? find_factor(energies, sizeof(energies) / sizeof(energies[0]), energy->units)
            : 1;
    if (factor == 0 && !places->quiet)
        airy_log(AIRY_LOG_WARN,
                 "the photon energy has units '%s', which is no known energy; %s is not used",
                 energy->units, energy->name);
    const double electron_volts = energy->value * factor;
    *metres = electron_volts > 0 ? AIRY_HC_EV_M / electron_volts : 0;
    return *metres > 0;
}

/*
 * A number to compare with one that was found: what cannot be used of it is none of the user's
 * concern.
 */
static bool read_second(struct number *number, struct places *places, const char *path, bool second)
{
    const struct airy_unusable noted = places->unusable;
    const bool quiet = places->quiet;
    places->quiet = quiet || second;
    const bool found = read_number(number, places, path);
    places->quiet = quiet;
    if (second)
        places->unusable = noted;
    return found;
}

/* Behind FILE:: */
static const char *dataset_of(const struct number *number)
{
    const char *colons = strstr(number->name, "::");
    return colons ? colons + 2 : number->name;
}

/* The places of the wavelength, the first one first; all that are there must agree. */
static bool read_wavelength(double *metres, struct airy_header *header, struct places *places)
{
    static const struct {
        const char *name;
        bool of_entry, of_detector, energy;
    } from[] = {{.name = "beam/incident_wavelength"},
                {.name = "sample/beam/incident_wavelength", .of_entry = true},
                {.name = "monochromator/wavelength"},
                {.name = "beam/incident_energy", .energy = true},
                {.name = "monochromator/energy", .energy = true},
                {.name = "detectorSpecific/photon_energy", .of_detector = true, .energy = true}};
    struct airy_stated stated = {.unit = "m"};
    char path[MAX_NAME + 64], entry[MAX_NAME];
    parent_of(entry, sizeof(entry), places->instrument);
    for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
        struct number number;
        double value;
        snprintf(path, sizeof(path), "%s/%s",
                 from[i].of_entry      ? entry
                 : from[i].of_detector ? places->detector
                                       : places->instrument,
                 from[i].name);
        if (!read_second(&number, places, path, stated.found))
            continue;
        const bool good = from[i].energy ? energy_to_metres(&value, places, &number)
                                         : to_metres(&value, places, &number, 1e-10) && value > 0;
        if (good)
            airy_stated_add(&stated, &places->unusable, dataset_of(&number), value);
    }
    return airy_stated_get(metres, header, AIRY_GEOMETRY_WAVELENGTH, &stated);
}

/* Beam centre in pixels. */
static bool read_center(double *pixels, struct places *places, const char *name, double pixel)
{
    struct number center;
    if (!read_field(&center, places, places->detector, name))
        return false;
    if (!center.units[0] || strncasecmp(center.units, "pix", 3) == 0 ||
        strcasecmp(center.units, "px") == 0) {
        *pixels = center.value;
        return true;
    }
    double metres;
    const bool good = to_metres(&metres, places, &center, 0);
    *pixels = metres / pixel;
    return good;
}

/*
 * Against the data line the registry of the integration is asked here, through its public header
 * alone: a stack's geometry is complete only with the detector's name, and every caller of
 * airy_stack_get_meta would have to repeat this.
 */
static void name_detector(airy_detector *detector, struct places *places)
{
    char path[MAX_NAME + 32], *text = NULL;
    snprintf(path, sizeof(path), "%s/description", places->detector);
    if (airy_hdf5_exists(places->file, path))
        places->no_memory |= airy_hdf5_text_open(&text, places->file, path) == AIRY_ERR_MEMORY;
    airy_detector_recognize(detector, text ? text : "");
    free(text);
}

/*
 * Eiger masters say how the detector stands; a plain PONI of beam centre and distance does not
 * take that up.
 */
static void read_tilt(struct airy_header *header, struct places *places)
{
    static const double usual[6] = {-1, 0, 0, 0, -1, 0}; /* x axis, y axis in the laboratory */
    char path[MAX_NAME + 64];
    snprintf(path, sizeof(path), "%s/geometry/orientation/value", places->detector);
    if (airy_hdf5_exists(places->file, path)) {
        const hid_t dataset = airy_hdf5_dataset(places->file, path);
        double *values = NULL;
        size_t count = 0;
        bool tilted = dataset >= 0 && read_all(&values, &count, places, dataset) && count == 6;
        double worst = 0;
        for (size_t i = 0; i < 6 && tilted; i++)
            worst = fmax(worst, fabs(values[i] - usual[i]));
        header->tilt[1] = tilted && worst > 1e-6 ? values[1] : 0;
        header->tilt[2] = tilted && worst > 1e-6 ? values[2] : 0;
        if (tilted && worst > 1e-6 && !places->quiet)
            airy_log(AIRY_LOG_WARN,
                     "%s is not that of a detector facing the beam; it is ignored, use a PONI file",
                     path);
        free(values);
        if (dataset >= 0)
            H5Dclose(dataset);
    }
    struct number arm;
    snprintf(path, sizeof(path), "%s/goniometer/two_theta", places->detector);
    if (!read_number(&arm, places, path) || arm.value == 0)
        return;
    const bool radians = strncasecmp(arm.units, "rad", 3) == 0;
    header->tilt[0] = radians ? arm.value : arm.value * 0.017453292519943295;
    if (!places->quiet)
        airy_log(AIRY_LOG_WARN, "%s = %g: the detector's arm is ignored, use a PONI file", path,
                 arm.value);
}

/* The geometry as this program writes it. */
static bool read_poni(airy_geometry *g, struct places *places)
{
    char group[MAX_NAME + 8], path[MAX_NAME + 32], *text = NULL;
    snprintf(group, sizeof(group), "%s/poni", places->detector);
    struct number number;
    if (!airy_hdf5_exists(places->file, group))
        return false;
    for (size_t i = 0; i < AIRY_GEOMETRY_FIELDS; i++) {
        if (!read_field(&number, places, group, airy_geometry_fields[i].name))
            return false;
        airy_geometry_set(g, &airy_geometry_fields[i], number.value);
    }
    if (read_field(&number, places, group, "orientation") && number.value >= 0 && number.value <= 4)
        g->detector.orientation = (int)number.value;
    snprintf(path, sizeof(path), "%s/detector", group);
    const airy_status status = airy_hdf5_text_open(&text, places->file, path);
    places->no_memory |= status == AIRY_ERR_MEMORY;
    if (status == AIRY_OK) {
        snprintf(g->detector.name, sizeof(g->detector.name), "%s", text);
        airy_detector_complete(&g->detector);
        free(text);
    }
    return airy_geometry_is_there(g);
}

static bool read_pixel(double *metres, struct places *places, const char *name)
{
    struct number size;
    if (!read_field(&size, places, places->detector, name) || !to_metres(metres, places, &size, 1))
        return false;
    if (!(*metres > 0))
        airy_unusable_add(&places->unusable, "%s is %g", size.name, size.value);
    return *metres > 0;
}

static bool read_distance(double *metres, struct airy_header *header, struct places *places)
{
    static const char *const names[] = {"detector_distance", "distance"};
    struct airy_stated stated = {.unit = "m"};
    char path[MAX_NAME + 32];
    for (size_t i = 0; i < 2; i++) {
        struct number distance;
        double value;
        snprintf(path, sizeof(path), "%s/%s", places->detector, names[i]);
        if (!read_second(&distance, places, path, stated.found) ||
            !to_metres(&value, places, &distance, 1))
            continue;
        if (value > 0)
            airy_stated_add(&stated, &places->unusable, dataset_of(&distance), value);
        else if (!stated.found)
            airy_unusable_add(&places->unusable, "%s is %g", distance.name, distance.value);
    }
    return airy_stated_get(metres, header, AIRY_GEOMETRY_DISTANCE, &stated);
}

/* What the fields of DECTRIS masters and NXmx files state. */
static void read_header(struct airy_header *header, struct places *places)
{
    double row, column;
    if (read_pixel(&header->pixel[1], places, "x_pixel_size") &&
        read_pixel(&header->pixel[0], places, "y_pixel_size"))
        header->parts |= AIRY_GEOMETRY_PIXELS;
    else
        header->pixel[0] = header->pixel[1] = 0;
    if (read_distance(&header->dist, header, places))
        header->parts |= AIRY_GEOMETRY_DISTANCE;
    if (read_center(&column, places, "beam_center_x", header->pixel[1]) &&
        read_center(&row, places, "beam_center_y", header->pixel[0]) && isfinite(row) &&
        isfinite(column))
        airy_header_set_center(header, &places->unusable, "the beam centre", row, column);
    if (read_wavelength(&header->wavelength, header, places))
        header->parts |= AIRY_GEOMETRY_WAVELENGTH;
    read_tilt(header, places);
}

/* Of a geometry as this program writes it. */
static void header_of_poni(struct airy_header *header, const airy_geometry *g)
{
    *header = (struct airy_header){
        .parts = AIRY_GEOMETRY_PIXELS | AIRY_GEOMETRY_DISTANCE | AIRY_GEOMETRY_CENTER |
                 (g->wavelength > 0 ? AIRY_GEOMETRY_WAVELENGTH : 0),
        .pixel = {g->detector.pixel1, g->detector.pixel2},
        .dist = g->dist,
        .center = {g->poni1 / g->detector.pixel1, g->poni2 / g->detector.pixel2},
        .wavelength = g->wavelength,
        .tilt = {g->rot1, g->rot2, g->rot3}};
}

static void read_geometry(airy_stack_meta *meta, struct places *places, const airy_stack *stack)
{
    airy_geometry *g = &meta->geometry;
    struct airy_header header = {0};
    memset(g, 0, sizeof(*g));
    snprintf(g->detector.name, sizeof(g->detector.name), "Detector");
    g->detector.height = stack->height;
    g->detector.width = stack->width;
    if (read_poni(g, places)) {
        header_of_poni(&header, g);
        meta->has_geometry = true;
        meta->geometry_parts = header.parts;
        memcpy(meta->center, header.center, sizeof(meta->center));
        return;
    }
    memset(g, 0, sizeof(*g));
    snprintf(g->detector.name, sizeof(g->detector.name), "Detector");
    g->detector.height = stack->height;
    g->detector.width = stack->width;
    read_header(&header, places);
    airy_header_describe(meta, &header, &places->unusable);
    name_detector(&g->detector, places);
}

airy_status airy_stack_header(struct airy_header *header, const char *path)
{
    hid_t file;
    struct places places;
    airy_geometry g = {0};
    *header = (struct airy_header){0};
    AIRY_TRY(airy_hdf5_lock());
    airy_status status = airy_hdf5_open(&file, path);
    if (status == AIRY_OK) {
        if (find_places(&places, file)) {
            places.quiet = true;
            if (read_poni(&g, &places))
                header_of_poni(header, &g);
            else
                read_header(header, &places);
        }
        status = places.no_memory ? airy_fail_on(AIRY_ERR_MEMORY, AIRY_SUBJECT_FILE,
                                                 "out of memory for the description in '%s'", path)
                                  : airy_probe_result(file);
        H5Fclose(file);
    }
    airy_hdf5_unlock();
    return status;
}

/* Of a channel its own, and never that of another one. */
static bool find_mask(char *path, size_t size, const struct places *places, const char *channel)
{
    static const char *const names[] = {"pixel_mask", "detectorSpecific/pixel_mask",
                                        "threshold_1_channel/pixel_mask"};
    snprintf(path, size, "%s/%s_channel/pixel_mask", places->detector, channel);
    if (*channel && airy_hdf5_exists(places->file, path))
        return true;
    const size_t last = *channel ? 1 : 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) - last; i++) {
        snprintf(path, size, "%s/%s", places->detector, names[i]);
        if (airy_hdf5_exists(places->file, path))
            return true;
    }
    return false;
}

/* The bytes of [at, end) are 0 and there; holes are not read. */
static bool all_zero(int fd, off_t at, off_t end)
{
    unsigned char bytes[16 << 10];
    while (at < end) {
        const off_t data = lseek(fd, at, SEEK_DATA);
        if (data < 0 && errno == ENXIO) { /* a hole to the end of the file */
            const off_t size = lseek(fd, 0, SEEK_END);
            return size >= end;
        }
        at = data > at ? data : at;
        if (at >= end)
            return true;
        const ssize_t n = pread(fd, bytes, airy_min_size(sizeof(bytes), (size_t)(end - at)), at);
        if (n <= 0)
            return false;
        for (ssize_t i = 0; i < n; i++)
            if (bytes[i] != 0)
                return false;
        at += n;
    }
    return true;
}

/*
 * A contiguous mask without a bad pixel, which every file for XDS has, is none. What cannot be
 * looked at is one: airy_stack_mask says why it cannot be read.
 */
static bool masks_nothing(hid_t file, const char *path)
{
    char name[4096];
    const hid_t dataset = H5Dopen2(file, path, airy_hdf5_dataset_access());
    const hid_t creation = dataset < 0 ? -1 : H5Dget_create_plist(dataset);
    bool nothing = creation >= 0 && H5Pget_layout(creation) == H5D_CONTIGUOUS &&
                   H5Pget_external_count(creation) == 0;
    const haddr_t at = nothing ? H5Dget_offset(dataset) : HADDR_UNDEF;
    const hsize_t bytes = nothing ? H5Dget_storage_size(dataset) : 0;
    const ssize_t length = nothing ? H5Fget_name(dataset, name, sizeof(name)) : -1;
    nothing = at != HADDR_UNDEF && at <= INT64_MAX && bytes <= INT64_MAX - at && length > 0 &&
              length < (ssize_t)sizeof(name);
    const int fd = nothing ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    nothing = fd >= 0 && all_zero(fd, (off_t)at, (off_t)(at + bytes));
    if (fd >= 0)
        close(fd);
    if (creation >= 0)
        H5Pclose(creation);
    if (dataset >= 0)
        H5Dclose(dataset);
    return nothing;
}

/* What the master promises and the frames of the first input do not keep is reported. */
static void check_promises(const airy_stack *stack, size_t promised, struct places *places)
{
    struct number width, height;
    const struct stack_part *part = &stack->parts[0];
    if (part->series && !stack->growing && promised > part->frames)
        airy_log(AIRY_LOG_WARN, "%s: nimages and ntrigger give %zu frames, but %zu are there",
                 stack->first_path, promised, part->frames);
    if (read_field(&width, places, places->detector, "detectorSpecific/x_pixels_in_detector") &&
        read_field(&height, places, places->detector, "detectorSpecific/y_pixels_in_detector") &&
        (width.value != (double)stack->width || height.value != (double)stack->height))
        airy_log(
            AIRY_LOG_WARN,
            "%s: x_pixels_in_detector and y_pixels_in_detector give %g x %g pixels, but frames "
            "have %zu x %zu (height x width)",
            stack->first_path, height.value, width.value, stack->height, stack->width);
}

airy_status airy_stack_get_meta(const airy_stack *stack, airy_stack_meta *meta)
{
    AIRY_FAIL_IF(!stack || !meta, AIRY_ERR_PARAM, "airy_stack_get_meta: an argument is NULL");
    AIRY_TRY(airy_stack_refuse_pipe(stack, "airy_stack_get_meta"));
    airy_stack_meta found;
    memset(&found, 0, sizeof(found));
    if (stack->first_is_plain) {
        airy_plain_meta(meta, stack,
                        stack->segments[0].plain ? airy_plain_text(&stack->segments[0]) : NULL);
        return AIRY_OK;
    }
    AIRY_TRY(airy_hdf5_lock_allowing(stack->allowed));
    hid_t file;
    struct places places;
    struct number limit;
    char mask[MAX_NAME + 64];
    airy_status status = airy_hdf5_open(&file, stack->first_path);
    if (status == AIRY_OK) {
        if (find_places(&places, file)) {
            read_geometry(&found, &places, stack);
            found.has_mask = find_mask(mask, sizeof(mask), &places, stack->channel) &&
                             !masks_nothing(file, mask);
            char limit_name[AIRY_STACK_CHANNEL + 32];
            snprintf(limit_name, sizeof(limit_name), "%s_channel/saturation_value", stack->channel);
            found.has_saturation =
                (stack->channel[0] && read_field(&limit, &places, places.detector, limit_name)) ||
                read_field(&limit, &places, places.detector, "saturation_value") ||
                read_field(&limit, &places, places.detector, "detectorSpecific/saturation_value") ||
                read_field(&limit, &places, places.detector,
                           "detectorSpecific/countrate_correction_count_cutoff");
            found.saturation = found.has_saturation ? limit.value : 0;
        }
        found.frames = airy_stack_series_total(file);
        if (places.detector[0])
            check_promises(stack, found.frames, &places);
        status = places.no_memory
                     ? airy_fail_on(AIRY_ERR_MEMORY, AIRY_SUBJECT_FILE,
                                    "out of memory for the description in '%s'", stack->first_path)
                     : airy_probe_result(file);
        H5Fclose(file);
    }
    airy_hdf5_unlock();
    AIRY_TRY(status);
    *meta = found;
    return AIRY_OK;
}

/* The last two axes are a frame's; the ones before are 1. */
static airy_status check_mask_shape(hid_t dataset, const airy_stack *stack, const char *what)
{
    hsize_t shape[H5S_MAX_RANK];
    char got[256] = "no shape";
    size_t used = 0;
    const hid_t space = H5Dget_space(dataset);
    const int ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);
    bool fits = ndim >= 2 && shape[ndim - 2] == stack->height && shape[ndim - 1] == stack->width;
    for (int axis = 0; axis < ndim; axis++) {
        fits = fits && (axis >= ndim - 2 || shape[axis] == 1);
        if (used < sizeof(got))
            used += (size_t)snprintf(got + used, sizeof(got) - used, "%s%llu", axis ? " x " : "",
                                     (unsigned long long)shape[axis]);
    }
    if (space >= 0)
        H5Sclose(space);
    AIRY_FAIL_HINT_IF(!fits, AIRY_ERR_SHAPE, AIRY_HINT_MASK, AIRY_SUBJECT_DATASET,
                      "pixel mask %s has %s values, the frames have %zu x %zu", what, got,
                      stack->height, stack->width);
    return AIRY_OK;
}

static airy_status read_mask(uint8_t *mask, hid_t dataset, const airy_stack *stack,
                             const char *what)
{
    const hid_t type = H5Dget_type(dataset), creation = H5Dget_create_plist(dataset);
    airy_dtype dtype = AIRY_DTYPE_U8;
    bool native;
    airy_status status =
        type < 0 || creation < 0
            ? airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_DATASET, "%s cannot be read", what)
            : airy_hdf5_dtype(&dtype, &native, type, what);
    if (status == AIRY_OK)
        status = airy_filter_check(creation, what);
    if (type >= 0)
        H5Tclose(type);
    if (creation >= 0)
        H5Pclose(creation);
    AIRY_TRY(status);
    AIRY_TRY(check_mask_shape(dataset, stack, what));
    const size_t size = airy_dtype_size(dtype), pixels = stack->height * stack->width;
    size_t bytes;
    AIRY_FAIL_ON_IF(airy_mul_size(&bytes, pixels, size), AIRY_ERR_MEMORY, AIRY_SUBJECT_DATASET,
                    "%s: more bytes than an address can count", what);
    if (airy_chunk_check(dataset, NULL, NULL) != AIRY_OK)
        return airy_fail_context(AIRY_ERR_CORRUPT, "%s", what);
    AIRY_TRY(airy_sources_check_chunks(dataset, NULL, NULL, what));
    uint8_t *values;
    AIRY_TRY(airy_memory_alloc((void **)&values, bytes));
    if (airy_hdf5_read(dataset, dtype, H5S_ALL, H5S_ALL, values) < 0)
        status = airy_hdf5_fail(airy_hdf5_failed_io() ? AIRY_ERR_IO : AIRY_ERR_CORRUPT,
                                AIRY_SUBJECT_DATASET, "%s cannot be read", what);
    static const uint8_t zero[8];
    for (size_t i = 0; i < pixels && status == AIRY_OK; i++)
        mask[i] = memcmp(values + i * size, zero, size) != 0;
    airy_memory_release(values);
    return status;
}

airy_status airy_stack_mask(const airy_stack *stack, uint8_t *mask)
{
    AIRY_FAIL_IF(!stack || !mask, AIRY_ERR_PARAM, "airy_stack_mask: an argument is NULL");
    AIRY_TRY(airy_stack_refuse_pipe(stack, "airy_stack_mask"));
    AIRY_FAIL_ON_IF(stack->first_is_plain, AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE,
                    "'%s' has no pixel mask", stack->first_path);
    AIRY_TRY(airy_hdf5_lock_allowing(stack->allowed));
    hid_t file;
    struct places places;
    char path[MAX_NAME + 64], what[2 * MAX_NAME];
    airy_status status = airy_hdf5_open(&file, stack->first_path);
    if (status == AIRY_OK) {
        hid_t dataset = -1;
        const bool found = find_places(&places, file) &&
                           find_mask(path, sizeof(path), &places, stack->channel);
        if (!found && (status = airy_probe_result(file)) == AIRY_OK)
            status = airy_fail_on(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE, "'%s' has no pixel mask",
                                  stack->first_path);
        else if (found && (dataset = airy_hdf5_dataset_own(file, path)) < 0)
            status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "%s::%s cannot be opened",
                                    stack->first_path, path);
        if (dataset >= 0) {
            snprintf(what, sizeof(what), "%s::%s", stack->first_path, path);
            status = read_mask(mask, dataset, stack, what);
            H5Dclose(dataset);
        }
        H5Fclose(file);
    }
    airy_hdf5_unlock();
    return status;
}

static airy_status read_monitor(double *values, hid_t file, const airy_stack *stack,
                                const char *name)
{
    AIRY_FAIL_ON_IF(!airy_hdf5_exists(file, name), AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE,
                    "'%s' has no dataset '%s'", stack->first_path, name);
    const hid_t dataset = airy_hdf5_dataset(file, name);
    if (dataset < 0)
        return airy_hdf5_fail(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                              "%s::%s cannot be opened as a dataset", stack->first_path, name);
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    const hssize_t count = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    airy_status status = AIRY_OK;
    if (class != H5T_INTEGER && class != H5T_FLOAT)
        status = airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "%s::%s holds no numbers",
                              stack->first_path, name);
    else if (count < 0 || (size_t)count != stack->frames)
        status = airy_fail_on(AIRY_ERR_SHAPE, AIRY_SUBJECT_FILE,
                              "%s::%s has %lld elements, expected one for each of %zu frames",
                              stack->first_path, name, (long long)count, stack->frames);
    else if (airy_chunk_check(dataset, NULL, NULL) != AIRY_OK)
        status = airy_fail_context(AIRY_ERR_CORRUPT, "%s::%s", stack->first_path, name);
    else if (airy_hdf5_read(dataset, AIRY_DTYPE_F64, H5S_ALL, H5S_ALL, values) < 0)
        status = airy_hdf5_fail(AIRY_ERR_IO, AIRY_SUBJECT_FILE, "%s::%s cannot be read",
                                stack->first_path, name);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    H5Dclose(dataset);
    return status;
}

/* Of several files. */
static airy_status join_monitor(double *values, const airy_stack *stack, const char *dataset)
{
    airy_frame_values *found = NULL;
    size_t count = 0;
    AIRY_TRY(airy_stack_values(&found, &count, stack, &dataset, 1));
    AIRY_FAIL_ON_IF(count == 0, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "%s::%s has no name",
                    stack->first_path, dataset);
    airy_status status = AIRY_OK;
    if (found->text)
        status = airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE, "%s::%s holds no numbers",
                              stack->first_path, dataset);
    for (size_t i = 0; i < stack->frames && status == AIRY_OK; i++)
        values[i] = found->dtype == AIRY_DTYPE_F64   ? ((const double *)found->values)[i]
                    : found->dtype == AIRY_DTYPE_U64 ? (double)((const uint64_t *)found->values)[i]
                                                     : (double)((const int64_t *)found->values)[i];
    airy_frame_values_free(found, count);
    return status;
}

airy_status airy_stack_monitor(const airy_stack *stack, const char *dataset, double *values)
{
    AIRY_FAIL_IF(!stack || !dataset || !*dataset || !values, AIRY_ERR_PARAM,
                 "airy_stack_monitor: an argument is NULL");
    AIRY_TRY(airy_stack_refuse_pipe(stack, "airy_stack_monitor"));
    AIRY_FAIL_ON_IF(stack->first_is_plain, AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE,
                    "'%s' is no HDF5 file, it has no dataset '%s'", stack->first_path, dataset);
    if (stack->part_count > 1)
        return join_monitor(values, stack, dataset);
    AIRY_TRY(airy_hdf5_lock_allowing(stack->allowed));
    hid_t file;
    airy_status status = airy_hdf5_open(&file, stack->first_path);
    if (status == AIRY_OK) {
        status = read_monitor(values, file, stack, dataset);
        H5Fclose(file);
    }
    airy_hdf5_unlock();
    return status;
}
