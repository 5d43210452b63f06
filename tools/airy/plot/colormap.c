#include "plot/colormap.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/*
 * Seventeen points of each map. Source: S. van der Walt and N. Smith (viridis, magma, inferno,
 * CC0); J. Nunez, C. Anderton and R. Renslow, PLoS ONE 13 (2018) e0199239 (cividis, CC0); A.
 * Mikhailov (turbo, Apache-2.0).
 */
static const uint8_t viridis[17][3] = {
    {68, 1, 84},    {72, 24, 106},  {71, 45, 123},  {66, 64, 134},  {59, 82, 139},  {51, 99, 141},
    {44, 114, 142}, {38, 130, 142}, {33, 145, 140}, {31, 160, 136}, {40, 174, 128}, {63, 188, 115},
    {94, 201, 98},  {132, 212, 75}, {173, 220, 48}, {216, 226, 25}, {253, 231, 37},
};
static const uint8_t magma[17][3] = {
    {0, 0, 4},       {10, 8, 34},     {29, 17, 71},   {54, 16, 107},   {81, 18, 124},
    {106, 28, 129},  {131, 38, 129},  {156, 46, 127}, {183, 55, 121},  {208, 65, 111},
    {231, 82, 99},   {245, 107, 92},  {252, 137, 97}, {254, 167, 114}, {254, 196, 136},
    {253, 226, 163}, {252, 253, 191},
};
static const uint8_t inferno[17][3] = {
    {0, 0, 4},       {11, 7, 36},     {33, 12, 74},  {61, 9, 101},   {87, 16, 110},
    {113, 25, 110},  {138, 34, 106},  {163, 44, 97}, {188, 55, 84},  {210, 70, 68},
    {228, 90, 49},   {241, 115, 29},  {249, 142, 9}, {252, 172, 17}, {249, 203, 53},
    {242, 234, 105}, {252, 255, 164},
};
static const uint8_t cividis[17][3] = {
    {0, 34, 78},     {0, 46, 106},    {26, 56, 111},   {50, 67, 109},   {67, 78, 108},
    {83, 90, 109},   {97, 101, 111},  {111, 112, 115}, {125, 124, 120}, {140, 136, 120},
    {155, 148, 118}, {171, 160, 114}, {188, 174, 108}, {205, 187, 99},  {222, 201, 88},
    {240, 216, 70},  {254, 232, 56},
};
static const uint8_t turbo[17][3] = {
    {48, 18, 59},   {64, 64, 162},  {70, 107, 227}, {66, 148, 255}, {40, 188, 235}, {24, 221, 194},
    {50, 242, 152}, {109, 254, 98}, {164, 252, 60}, {205, 236, 52}, {238, 207, 58}, {253, 172, 52},
    {251, 126, 33}, {235, 80, 14},  {208, 47, 5},   {169, 22, 1},   {122, 4, 3},
};
static const uint8_t gray[2][3] = {{0, 0, 0}, {255, 255, 255}};

static const struct colormap maps[] = {
    {"viridis", {190, 190, 190}, 17, viridis}, {"magma", {120, 170, 190}, 17, magma},
    {"inferno", {120, 170, 190}, 17, inferno}, {"cividis", {200, 110, 110}, 17, cividis},
    {"turbo", {190, 190, 190}, 17, turbo},     {"gray", {190, 60, 60}, 2, gray},
};
enum { MAPS = sizeof(maps) / sizeof(maps[0]) };

const struct colormap *colormap_find(const char *name)
{
    for (size_t i = 0; i < MAPS; i++)
        if (strcmp(maps[i].name, name) == 0)
            return &maps[i];
    return NULL;
}

const char *const *colormap_names(void)
{
    static const char *names[MAPS + 1]; /* NULL behind the last */
    for (size_t i = 0; i < MAPS; i++)
        names[i] = maps[i].name;
    return names;
}

void colormap_color(const struct colormap *map, double value, uint8_t rgb[3])
{
    const double at = fmin(fmax(value, 0), 1) * (map->count - 1);
    const int i = at >= map->count - 1 ? map->count - 2 : (int)at;
    for (int k = 0; k < 3; k++)
        rgb[k] = (uint8_t)(map->points[i][k] +
                           (at - i) * (map->points[i + 1][k] - map->points[i][k]) + 0.5);
}
