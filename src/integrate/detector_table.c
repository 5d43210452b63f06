/* Made by scripts/detector_table.py from the reference table of detectors. */
#include "integrate/detector_table.h"

#define CURVED    AIRY_DETECTOR_CURVED
#define HEXAGONAL AIRY_DETECTOR_HEXAGONAL
#define UNEVEN    AIRY_DETECTOR_UNEVEN
#define DECTRIS   AIRY_DETECTOR_DECTRIS
#define ROUND     AIRY_DETECTOR_ROUND
#define PLATE     AIRY_DETECTOR_PLATE
#define HALVED    AIRY_DETECTOR_HALVED

/* clang-format off */
static const struct airy_band bands_1[] = {{514, 37, 551, 7}, {0, 0, 0, 0}};
static const struct airy_band bands_2[] = {{1030, 10, 1040, 3}, {0, 0, 0, 0}};
static const struct airy_band bands_3[] = {{514, 37, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_4[] = {{512, 38, 550, 7}, {0, 0, 0, 0}};
static const struct airy_band bands_5[] = {{513, 2, 0, 1}, {1028, 12, 0, 1}, {1553, 2, 0, 1}, {2068, 12, 0, 1}, {2593, 2, 0, 1}, {3108, 12, 0, 1}, {3633, 2, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_6[] = {{512, 38, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_7[] = {{513, 2, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_8[] = {{513, 2, 0, 1}, {1028, 12, 0, 1}, {1553, 2, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_9[] = {{512, 38, 550, 3}, {0, 0, 0, 0}};
static const struct airy_band bands_10[] = {{512, 38, 550, 5}, {0, 0, 0, 0}};
static const struct airy_band bands_11[] = {{513, 2, 0, 1}, {1028, 12, 0, 1}, {1553, 2, 0, 1}, {2068, 12, 0, 1}, {2593, 2, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_12[] = {{1028, 12, 1040, 3}, {0, 0, 0, 0}};
static const struct airy_band bands_13[] = {{1028, 12, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_14[] = {{1028, 12, 1040, 2}, {0, 0, 0, 0}};
static const struct airy_band bands_15[] = {{514, 37, 551, 3}, {0, 0, 0, 0}};
static const struct airy_band bands_16[] = {{1030, 10, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_17[] = {{514, 37, 551, 5}, {0, 0, 0, 0}};
static const struct airy_band bands_18[] = {{1030, 10, 1040, 2}, {0, 0, 0, 0}};
static const struct airy_band bands_19[] = {{0, 1, 119, 2}, {0, 0, 0, 0}};
static const struct airy_band bands_20[] = {{0, 1, 79, 2}, {0, 0, 0, 0}};
static const struct airy_band bands_21[] = {{0, 1, 0, 1}, {119, 2, 0, 1}, {239, 1, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_22[] = {{0, 1, 0, 1}, {79, 2, 80, 6}, {559, 1, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_23[] = {{514, 36, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_24[] = {{514, 36, 550, 3}, {0, 0, 0, 0}};
static const struct airy_band bands_25[] = {{1030, 8, 0, 1}, {0, 0, 0, 0}};
static const struct airy_chip chips_1[] = {
    {1, 257, 607, 863}, {1, 257, 866, 1122}, {1, 257, 1124, 1380}, {1, 257, 1382, 1638},
    {69, 325, 1646, 1902}, {69, 325, 1905, 2161}, {69, 325, 2163, 2419}, {69, 325, 2421, 2677},
    {259, 515, 607, 863}, {259, 515, 866, 1122}, {259, 515, 1124, 1380}, {259, 515, 1382, 1638},
    {328, 584, 1646, 1902}, {328, 584, 1905, 2161}, {328, 584, 2163, 2419}, {328, 584, 2421, 2677},
    {550, 806, 607, 863}, {550, 806, 866, 1122}, {550, 806, 1124, 1380}, {550, 806, 1382, 1638},
    {597, 853, 69, 325}, {597, 853, 328, 584}, {619, 875, 1646, 1902}, {619, 875, 1905, 2161},
    {619, 875, 2163, 2419}, {619, 875, 2421, 2677}, {667, 923, 2698, 2954}, {667, 923, 2957, 3212},
    {809, 1065, 607, 863}, {809, 1065, 866, 1122}, {809, 1065, 1124, 1380}, {809, 1065, 1382, 1638},
    {856, 1112, 69, 325}, {856, 1112, 328, 584}, {878, 1134, 1646, 1902}, {878, 1134, 1905, 2161},
    {878, 1134, 2163, 2419}, {878, 1134, 2421, 2677}, {926, 1182, 2698, 2954}, {926, 1182, 2957, 3212},
    {1100, 1356, 607, 863}, {1100, 1356, 866, 1122}, {1100, 1356, 1124, 1380}, {1100, 1356, 1382, 1638},
    {1114, 1370, 69, 325}, {1114, 1370, 328, 584}, {1169, 1425, 1646, 1902}, {1169, 1425, 1905, 2161},
    {1169, 1425, 2163, 2419}, {1169, 1425, 2421, 2677}, {1185, 1441, 2698, 2954}, {1185, 1441, 2957, 3212},
    {1359, 1615, 607, 863}, {1359, 1615, 866, 1122}, {1359, 1615, 1124, 1380}, {1359, 1615, 1382, 1638},
    {1372, 1628, 69, 325}, {1372, 1628, 328, 584}, {1428, 1684, 1646, 1902}, {1428, 1684, 1905, 2161},
    {1428, 1684, 2163, 2419}, {1428, 1684, 2421, 2677}, {1442, 1698, 2698, 2954}, {1442, 1698, 2957, 3212},
    {1636, 1892, 1, 257}, {1636, 1892, 259, 515}, {1650, 1906, 538, 794}, {1650, 1906, 797, 1053},
    {1650, 1906, 1055, 1311}, {1650, 1906, 1313, 1569}, {1706, 1962, 2629, 2885}, {1706, 1962, 2888, 3144},
    {1719, 1975, 1577, 1833}, {1719, 1975, 1836, 2092}, {1719, 1975, 2094, 2350}, {1719, 1975, 2352, 2608},
    {1895, 2151, 1, 257}, {1895, 2151, 259, 515}, {1909, 2165, 538, 794}, {1909, 2165, 797, 1053},
    {1909, 2165, 1055, 1311}, {1909, 2165, 1313, 1569}, {1965, 2221, 2629, 2885}, {1965, 2221, 2888, 3144},
    {1978, 2234, 1577, 1833}, {1978, 2234, 1836, 2092}, {1978, 2234, 2094, 2350}, {1978, 2234, 2352, 2608},
    {2153, 2409, 1, 257}, {2153, 2409, 259, 515}, {2200, 2456, 538, 794}, {2200, 2456, 797, 1053},
    {2200, 2456, 1055, 1311}, {2200, 2456, 1313, 1569}, {2223, 2479, 2629, 2885}, {2223, 2479, 2888, 3144},
    {2269, 2525, 1577, 1833}, {2269, 2525, 1836, 2092}, {2269, 2525, 2094, 2350}, {2269, 2525, 2352, 2608},
    {2411, 2667, 1, 257}, {2411, 2667, 259, 515}, {2459, 2715, 538, 794}, {2459, 2715, 797, 1053},
    {2459, 2715, 1055, 1311}, {2459, 2715, 1313, 1569}, {2481, 2737, 2629, 2885}, {2481, 2737, 2888, 3144},
    {2528, 2784, 1577, 1833}, {2528, 2784, 1836, 2092}, {2528, 2784, 2094, 2350}, {2528, 2784, 2352, 2608},
    {2750, 3006, 538, 794}, {2750, 3006, 797, 1053}, {2750, 3006, 1055, 1311}, {2750, 3006, 1313, 1569},
    {2819, 3075, 1577, 1833}, {2819, 3075, 1836, 2092}, {2819, 3075, 2094, 2350}, {2819, 3075, 2352, 2608},
    {3009, 3265, 538, 794}, {3009, 3265, 797, 1053}, {3009, 3265, 1055, 1311}, {3009, 3265, 1313, 1569},
    {3078, 3333, 1577, 1833}, {3078, 3333, 1836, 2092}, {3078, 3333, 2094, 2350}, {3078, 3333, 2352, 2608},
    {0, 0, 0, 0}};
static const struct airy_band bands_26[] = {{255, 4, 514, 32}, {0, 0, 0, 0}};
static const struct airy_band bands_27[] = {{255, 4, 258, 3}, {0, 0, 0, 0}};
static const struct airy_band bands_28[] = {{256, 4, 260, 9}, {0, 0, 0, 0}};
static const struct airy_band bands_29[] = {{256, 4, 260, 17}, {0, 0, 0, 0}};
static const struct airy_band bands_30[] = {{256, 4, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_31[] = {{256, 4, 260, 5}, {0, 0, 0, 0}};
static const struct airy_band bands_32[] = {{256, 4, 260, 4}, {0, 0, 0, 0}};
static const struct airy_band bands_33[] = {{195, 17, 212, 4}, {0, 0, 0, 0}};
static const struct airy_band bands_34[] = {{487, 7, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_35[] = {{195, 17, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_36[] = {{195, 17, 212, 7}, {0, 0, 0, 0}};
static const struct airy_band bands_37[] = {{487, 7, 494, 2}, {0, 0, 0, 0}};
static const struct airy_band bands_38[] = {{195, 17, 212, 2}, {0, 0, 0, 0}};
static const struct airy_band bands_39[] = {{255, 20, 275, 3}, {0, 0, 0, 0}};
static const struct airy_band bands_40[] = {{513, 7, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_41[] = {{255, 20, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_42[] = {{255, 20, 275, 5}, {0, 0, 0, 0}};
static const struct airy_band bands_43[] = {{513, 7, 520, 2}, {0, 0, 0, 0}};
static const struct airy_band bands_44[] = {{255, 20, 275, 7}, {0, 0, 0, 0}};
static const struct airy_band bands_45[] = {{513, 7, 520, 3}, {0, 0, 0, 0}};
static const struct airy_band bands_46[] = {{256, 1, 0, 1}, {513, 7, 0, 1}, {776, 1, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_47[] = {{256, 1, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_48[] = {{256, 1, 0, 1}, {513, 7, 0, 1}, {776, 1, 0, 1}, {1033, 7, 0, 1}, {1296, 1, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_49[] = {{256, 1, 0, 1}, {513, 7, 0, 1}, {776, 1, 0, 1}, {1033, 7, 0, 1}, {1296, 1, 0, 1}, {1553, 7, 0, 1}, {1816, 1, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_50[] = {{195, 17, 212, 11}, {0, 0, 0, 0}};
static const struct airy_band bands_51[] = {{487, 7, 494, 4}, {0, 0, 0, 0}};
static const struct airy_band bands_52[] = {{242, 3, 0, 1}, {487, 7, 0, 1}, {736, 3, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_53[] = {{242, 3, 0, 1}, {487, 7, 0, 1}, {736, 3, 0, 1}, {981, 7, 0, 1}, {1230, 3, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_54[] = {{242, 3, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_55[] = {{242, 3, 0, 1}, {487, 7, 0, 1}, {736, 3, 0, 1}, {981, 7, 0, 1}, {1230, 3, 0, 1}, {1475, 7, 0, 1}, {1724, 3, 0, 1}, {1969, 7, 0, 1}, {2218, 3, 0, 1}, {2463, 7, 0, 1}, {2712, 3, 0, 1}, {2957, 7, 0, 1}, {3206, 3, 0, 1}, {3451, 7, 0, 1}, {3700, 3, 0, 1}, {3945, 7, 0, 1}, {4194, 3, 0, 1}, {0, 0, 0, 0}};
static const struct airy_band bands_56[] = {{0, 1, 0, 1}, {119, 2, 120, 7}, {959, 1, 0, 1}, {0, 0, 0, 0}};

const struct airy_detector_entry airy_detector_table[] = {
    {"Quantum 210|ADSC_Q210", 4096, 4096, 5.1e-05, 5.1e-05, 0, NULL, NULL, NULL},
    {"Quantum 270|ADSC_Q270", 4168, 4168, 5.1e-05, 5.1e-05, 0, NULL, NULL, NULL},
    {"Quantum 315|ADSC_Q315", 6144, 6144, 5.1e-05, 5.1e-05, 0, NULL, NULL, NULL},
    {"Quantum 4|ADSC_Q4", 2304, 2304, 5.1e-05, 5.1e-05, 0, NULL, NULL, NULL},
    {"Aarhus", 1000, 16000, 2.4893e-05, 2.4893e-05, CURVED, NULL, NULL, NULL},
    {"ApexII|Apex2|Bruker", 1024, 1024, 0.00012, 0.00012, 0, NULL, NULL, NULL},
    {"aca1300|Basler", 966, 1296, 3.75e-06, 3.75e-06, 0, NULL, NULL, NULL},
    {"CirPAD|XCirpad", 11200, 120, 0.00013, 0.00013, CURVED, NULL, NULL, NULL},
    {"Detector", 0, 0, 0.0, 0.0, 0, NULL, NULL, NULL},
    {"Dexela 2923", 3888, 3072, 7.5e-05, 7.5e-05, 0, NULL, NULL, NULL},
    {"Eiger 16M", 4371, 4150, 7.5e-05, 7.5e-05, DECTRIS, bands_1, bands_2, NULL},
    {"Eiger 1M", 1065, 1030, 7.5e-05, 7.5e-05, DECTRIS, bands_3, NULL, NULL},
    {"Eiger2 CdTe 16M", 4362, 4148, 7.5e-05, 7.5e-05, DECTRIS, bands_4, bands_5, NULL},
    {"Eiger2 CdTe 1M", 1062, 1028, 7.5e-05, 7.5e-05, DECTRIS, bands_6, bands_7, NULL},
    {"Eiger2 CdTe 1M-W", 512, 2068, 7.5e-05, 7.5e-05, DECTRIS, NULL, bands_8, NULL},
    {"Eiger2 CdTe 2M-W", 512, 4148, 7.5e-05, 7.5e-05, DECTRIS, NULL, bands_5, NULL},
    {"Eiger2 CdTe 4M", 2162, 2068, 7.5e-05, 7.5e-05, DECTRIS, bands_9, bands_8, NULL},
    {"Eiger2 CdTe 500k", 512, 1028, 7.5e-05, 7.5e-05, DECTRIS, NULL, bands_7, NULL},
    {"Eiger2 CdTe 9M", 3262, 3108, 7.5e-05, 7.5e-05, DECTRIS, bands_10, bands_11, NULL},
    {"Eiger2 16M", 4362, 4148, 7.5e-05, 7.5e-05, DECTRIS, bands_4, bands_12, NULL},
    {"Eiger2 1M", 1062, 1028, 7.5e-05, 7.5e-05, DECTRIS, bands_6, NULL, NULL},
    {"Eiger2 1M-W", 512, 2068, 7.5e-05, 7.5e-05, DECTRIS, NULL, bands_13, NULL},
    {"Eiger2 250k", 512, 512, 7.5e-05, 7.5e-05, DECTRIS, NULL, NULL, NULL},
    {"Eiger2 2M-W", 512, 4148, 7.5e-05, 7.5e-05, DECTRIS, NULL, bands_12, NULL},
    {"Eiger2 4M", 2162, 2068, 7.5e-05, 7.5e-05, DECTRIS, bands_9, bands_13, NULL},
    {"Eiger2 500k", 512, 1028, 7.5e-05, 7.5e-05, DECTRIS, NULL, NULL, NULL},
    {"Eiger2 9M", 3262, 3108, 7.5e-05, 7.5e-05, DECTRIS, bands_10, bands_14, NULL},
    {"Eiger 4M", 2167, 2070, 7.5e-05, 7.5e-05, DECTRIS, bands_15, bands_16, NULL},
    {"Eiger 500k", 514, 1030, 7.5e-05, 7.5e-05, DECTRIS, NULL, NULL, NULL},
    {"Eiger 9M", 3269, 3110, 7.5e-05, 7.5e-05, DECTRIS, bands_17, bands_18, NULL},
    {"FReLoN", 2048, 2048, 5e-05, 5e-05, 0, NULL, NULL, NULL},
    {"Fairchild|Condor|Fairchild Condor 486:90", 4096, 4096, 1.5e-05, 1.5e-05, 0, NULL, NULL, NULL},
    {"HF-130k", 256, 512, 0.00015, 0.00015, 0, NULL, NULL, NULL},
    {"HF-1M", 1024, 1024, 0.00015, 0.00015, 0, NULL, NULL, NULL},
    {"HF-262k", 512, 512, 0.00015, 0.00015, 0, NULL, NULL, NULL},
    {"HF-2.4M|HF_2M", 1536, 1536, 0.00015, 0.00015, 0, NULL, NULL, NULL},
    {"HF-4M", 2048, 2048, 0.00015, 0.00015, 0, NULL, NULL, NULL},
    {"HF-9.4M|HF_9M", 3072, 3072, 0.00015, 0.00015, 0, NULL, NULL, NULL},
    {"Imxpad S10", 120, 80, 0.00013, 0.00013, UNEVEN, bands_19, bands_20, NULL},
    {"Imxpad S140", 240, 560, 0.00013, 0.00013, UNEVEN, bands_21, bands_22, NULL},
    {"Imxpad S70", 120, 560, 0.00013, 0.00013, UNEVEN, bands_19, bands_22, NULL},
    {"Imxpad S70 V", 560, 120, 0.00013, 0.00013, UNEVEN, bands_22, bands_19, NULL},
    {"Jungfrau 500k|Jungfrau", 512, 1024, 7.5e-05, 7.5e-05, UNEVEN, NULL, NULL, NULL},
    {"Jungfrau 1M", 1064, 1030, 7.5e-05, 7.5e-05, DECTRIS, bands_23, NULL, NULL},
    {"Jungfrau 4M", 2164, 2068, 7.5e-05, 7.5e-05, DECTRIS, bands_24, bands_25, NULL},
    {"Jungfrau 8M", 3333, 3212, 7.5e-05, 7.5e-05, 0, NULL, NULL, chips_1},
    {"Jungfrau 16M cor", 16448, 1030, 7.5e-05, 7.5e-05, UNEVEN, bands_26, bands_27, NULL},
    {"Lambda 10M", 2596, 4676, 5.5e-05, 5.5e-05, 0, bands_28, bands_29, NULL},
    {"Lambda 250k", 516, 516, 5.5e-05, 5.5e-05, 0, bands_30, bands_30, NULL},
    {"Lambda 2M", 1556, 1556, 5.5e-05, 5.5e-05, 0, bands_31, bands_31, NULL},
    {"Lambda 60k", 256, 256, 5.5e-05, 5.5e-05, 0, NULL, NULL, NULL},
    {"Lambda 750k", 516, 1556, 5.5e-05, 5.5e-05, 0, bands_30, bands_31, NULL},
    {"Lambda 7.5M|Lambda7M5", 2596, 2596, 5.5e-05, 5.5e-05, 0, bands_28, bands_28, NULL},
    {"Lambda 9M", 3868, 3227, 5.5e-05, 5.5e-05, 0, NULL, NULL, NULL},
    {"MAR 345|Mar3450", 3450, 3450, 0.0001, 0.0001, ROUND | PLATE, NULL, NULL, NULL},
    {"MAR 555", 3072, 2560, 0.000139, 0.000139, 0, NULL, NULL, NULL},
    {"Maxipix 1x1|Maxipix", 256, 256, 5.5e-05, 5.5e-05, 0, NULL, NULL, NULL},
    {"Maxipix 2x2", 516, 516, 5.5e-05, 5.5e-05, 0, bands_30, bands_30, NULL},
    {"Maxipix 5x1", 256, 1296, 5.5e-05, 5.5e-05, 0, NULL, bands_32, NULL},
    {"Mythen 1280|Mythen", 1, 1280, 0.008, 5e-05, 0, NULL, NULL, NULL},
    {"Perkin detector|Perkin|Perkin Elmer", 2048, 2048, 0.0002, 0.0002, HALVED, NULL, NULL, NULL},
    {"Pilatus 100k", 195, 487, 0.000172, 0.000172, DECTRIS, NULL, NULL, NULL},
    {"Pilatus 1M", 1043, 981, 0.000172, 0.000172, DECTRIS, bands_33, bands_34, NULL},
    {"Pilatus 200k", 407, 487, 0.000172, 0.000172, DECTRIS, bands_35, NULL, NULL},
    {"Pilatus 2M", 1679, 1475, 0.000172, 0.000172, DECTRIS, bands_36, bands_37, NULL},
    {"Pilatus 300k", 619, 487, 0.000172, 0.000172, DECTRIS, bands_38, NULL, NULL},
    {"Pilatus 300kw", 195, 1475, 0.000172, 0.000172, DECTRIS, NULL, bands_37, NULL},
    {"Pilatus4 1M", 1080, 1033, 0.00015, 0.00015, DECTRIS, bands_39, bands_40, NULL},
    {"Pilatus4 260k", 530, 513, 0.00015, 0.00015, DECTRIS, bands_41, NULL, NULL},
    {"Pilatus4 260kw", 255, 1033, 0.00015, 0.00015, DECTRIS, NULL, bands_40, NULL},
    {"Pilatus4 2M", 1630, 1553, 0.00015, 0.00015, DECTRIS, bands_42, bands_43, NULL},
    {"Pilatus4 4M", 2180, 2073, 0.00015, 0.00015, DECTRIS, bands_44, bands_45, NULL},
    {"Pilatus4 1M CdTe|Pilatus4_CdTe_1M", 1080, 1033, 0.00015, 0.00015, DECTRIS, bands_39, bands_46, NULL},
    {"Pilatus4 260k CdTe|Pilatus4_CdTe_260k", 530, 513, 0.00015, 0.00015, DECTRIS, bands_41, bands_47, NULL},
    {"Pilatus4 260kw CdTe|Pilatus4_CdTe_260kw", 255, 1033, 0.00015, 0.00015, DECTRIS, NULL, bands_46, NULL},
    {"Pilatus4 2M CdTe|Pilatus4_CdTe_2M", 1630, 1553, 0.00015, 0.00015, DECTRIS, bands_42, bands_48, NULL},
    {"Pilatus4 4M CdTe|Pilatus4_CdTe_4M", 2180, 2073, 0.00015, 0.00015, DECTRIS, bands_44, bands_49, NULL},
    {"Pilatus 6M", 2527, 2463, 0.000172, 0.000172, DECTRIS, bands_50, bands_51, NULL},
    {"Pilatus 900k", 619, 1475, 0.000172, 0.000172, DECTRIS, bands_38, bands_37, NULL},
    {"Pilatus CdTe 1M|Pilatus 1M CdTe", 1043, 981, 0.000172, 0.000172, DECTRIS, bands_33, bands_52, NULL},
    {"Pilatus CdTe 2M|Pilatus 2M CdTe", 1679, 1475, 0.000172, 0.000172, DECTRIS, bands_36, bands_53, NULL},
    {"Pilatus CdTe 300k|Pilatus 300k CdTe", 619, 487, 0.000172, 0.000172, DECTRIS, bands_38, bands_54, NULL},
    {"Pilatus CdTe 300kw|Pilatus 300kw CdTe", 195, 1475, 0.000172, 0.000172, DECTRIS, NULL, bands_53, NULL},
    {"Pilatus CdTe 900kw|Pilatus 900kw CdTe", 195, 4439, 0.000172, 0.000172, DECTRIS, NULL, bands_55, NULL},
    {"Pixirad-1", 476, 512, 5.196152422706632e-05, 6e-05, HEXAGONAL, NULL, NULL, NULL},
    {"Pixirad-2", 476, 1024, 5.196152422706632e-05, 6e-05, HEXAGONAL, NULL, NULL, NULL},
    {"Pixirad-4", 476, 2048, 5.196152422706632e-05, 6e-05, HEXAGONAL, NULL, NULL, NULL},
    {"Pixirad-8", 476, 4096, 5.196152422706632e-05, 6e-05, HEXAGONAL, NULL, NULL, NULL},
    {"Pixium 4700|Pixium|Pixium 4700 detector|Thales Electronics", 955, 1240, 0.000308, 0.000308, HALVED, NULL, NULL, NULL},
    {"RapidII|Rapid", 2560, 4700, 0.0001, 0.0001, CURVED, NULL, NULL, NULL},
    {"Picam HQ|RaspberryPi12M", 3040, 4056, 1.55e-06, 1.55e-06, 0, NULL, NULL, NULL},
    {"Picam v1|RaspberryPi5M", 1944, 2592, 1.4e-06, 1.4e-06, 0, NULL, NULL, NULL},
    {"Picam v2|RaspberryPi8M", 2464, 3280, 1.12e-06, 1.12e-06, 0, NULL, NULL, NULL},
    {"Rayonix133|MAR 133", 2048, 2048, 6.4e-05, 6.4e-05, ROUND | HALVED, NULL, NULL, NULL},
    {"Rayonix LX170|Rayonix LX170-HS", 1920, 3840, 4.42708e-05, 4.42708e-05, 0, NULL, NULL, NULL},
    {"Rayonix LX255|Rayonix LX255-HS|RayonixLX225HS", 1920, 5760, 4.42708e-05, 4.42708e-05, 0, NULL, NULL, NULL},
    {"Rayonix MX170|Rayonix MX170-HS", 3840, 3840, 4.42708e-05, 4.42708e-05, 0, NULL, NULL, NULL},
    {"Rayonix MX225|MAR 225", 3072, 3072, 7.3242e-05, 7.3242e-05, HALVED, NULL, NULL, NULL},
    {"Rayonix MX225HS", 2880, 2880, 7.8125e-05, 7.8125e-05, HALVED, NULL, NULL, NULL},
    {"Rayonix MX300|MAR 300", 4096, 4096, 7.3242e-05, 7.3242e-05, HALVED, NULL, NULL, NULL},
    {"Rayonix MX300HS", 3840, 3840, 7.8125e-05, 7.8125e-05, HALVED, NULL, NULL, NULL},
    {"Rayonix MX325", 4096, 4096, 7.9346e-05, 7.9346e-05, HALVED, NULL, NULL, NULL},
    {"Rayonix MX340HS", 3840, 3840, 8.85417e-05, 8.85417e-05, HALVED, NULL, NULL, NULL},
    {"Rayonix MX425HS", 9600, 9600, 4.42708e-05, 4.42708e-05, 0, NULL, NULL, NULL},
    {"Rayonix SX165|MAR 165", 4096, 4096, 3.95e-05, 3.95e-05, ROUND, NULL, NULL, NULL},
    {"Rayonix SX200", 4096, 4096, 4.8e-05, 4.8e-05, 0, NULL, NULL, NULL},
    {"Rayonix SX30HS", 1920, 1920, 1.5625e-05, 1.5625e-05, 0, NULL, NULL, NULL},
    {"Rayonix SX85HS", 1920, 1920, 4.42708e-05, 4.42708e-05, 0, NULL, NULL, NULL},
    {"Titan 2k x 2k|Titan|OXD Titan|Agilent Titan", 2048, 2048, 6e-05, 6e-05, 0, NULL, NULL, NULL},
    {"Xpad S540 flat|Xpad_flat|d5", 960, 560, 0.00013, 0.00013, UNEVEN, bands_56, bands_22, NULL},
};
/* clang-format on */

const size_t airy_detector_table_count = sizeof airy_detector_table / sizeof airy_detector_table[0];
