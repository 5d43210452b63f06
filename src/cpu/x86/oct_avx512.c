/* The OCT kernels with AVX-512. */
#include "cpu/x86/transpose.h"
#include "shared/oct_geom.h"

/*
 * 10 log10 of powers, at least AIRY_OCT_LEAST_POWER, by a table of 16 in registers: of 2^e m the
 * exponent and the upper four bits of m give 10 log10 2^e / r, r about 1 / m, and the rest is 1 + t =
 * m r, |t| < 1 / 32, t q(t) with the q of degree 2 of the least greatest error, 1.6e-7 dB. Rounding adds
 * 3e-7 dB at 0 dB and half a unit of the last place elsewhere. The instructions for e and m keep what
 * is infinite or not a number.
 */
static inline __m512 decibel_by_table(__m512 power)
{
    static const float r[16] = {
        0.9696969985961914f, 0.9142857193946838f, 0.8648648858070374f, 0.8205128312110901f,
        0.7804877758026123f, 0.7441860437393188f, 0.7111111283302307f, 0.6808510422706604f,
        0.6530612111091614f, 0.6274510025978088f, 0.6037735939025879f, 0.581818163394928f,
        0.5614035129547119f, 0.5423728823661804f, 0.5245901346206665f, 0.5079365372657776f};
    static const float level[16] = {
        0.13363948464393616f, 0.38918063044548035f, 0.6305173635482788f, 0.859146237373352f,
        1.0763388872146606f,  1.2831847667694092f,  1.4806252717971802f, 1.6694788932800293f,
        1.8504611253738403f,  2.0242018699645996f,  2.1912589073181152f, 2.3521273136138916f,
        2.507248640060425f,   2.657020330429077f,   2.8017988204956055f, 2.9419054985046387f};
    const __m512 p = _mm512_max_ps(_mm512_set1_ps(AIRY_OCT_LEAST_POWER), power),
                 m = _mm512_getmant_ps(p, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src),
                 e = _mm512_getexp_ps(p);
    const __m512i at = _mm512_srli_epi32(_mm512_castps_si512(p), 19);
    const __m512 t = _mm512_fmsub_ps(m, _mm512_permutexvar_ps(at, _mm512_loadu_ps(r)),
                                     _mm512_set1_ps(1)),
                 whole = _mm512_fmadd_ps(e, _mm512_set1_ps(3.0102999566398f),
                                         _mm512_permutexvar_ps(at, _mm512_loadu_ps(level)));
    __m512 q =
        _mm512_fmadd_ps(_mm512_set1_ps(1.448784589767456f), t, _mm512_set1_ps(-2.172304153442383f));
    q = _mm512_fmadd_ps(q, t, _mm512_set1_ps(4.342944622039795f));
    return _mm512_fmadd_ps(q, t, whole);
}

#define SET                    avx512
#define V                      __m512
#define FMA                    _mm512_fmadd_ps
#define SQRT                   _mm512_sqrt_ps
#define AT_LEAST(a, b)         _mm512_max_ps(a, b)
#define WITHIN(x, limit, a, b) _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, limit, _CMP_LE_OQ), b, a)
#define DECIBEL                decibel_by_table
#define STREAM(p, v)           _mm512_stream_ps(p, v)
#define FENCE()                _mm_sfence()
#define TRANSPOSE              transpose16
#include "cpu/tmpl/oct_tmpl.c"
