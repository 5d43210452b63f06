/* In front of every kernel: extensions, vendors' quirks, exchange inside a warp. */

#pragma OPENCL FP_CONTRACT OFF

/*
 * For functions that get pointers to private arrays or structs: these stay in registers only if
 * the call vanishes.
 */
#define AIRY_INLINE static inline __attribute__((always_inline))

/* Build option KERNEL: the only one of a file's kernels, by its number, that is compiled. */
#ifdef KERNEL
#define HAS(n) (KERNEL == (n))
#else
#define HAS(n) 1
#endif

/* In front of a loop whose turns are few or unknown; elsewhere compilers warn of what they leave. */
#ifdef __NV_CL_C_VERSION
#define AIRY_UNROLL(n) _Pragma(AIRY_TEXT(unroll n))
#define AIRY_TEXT(t)   #t
#else
#define AIRY_UNROLL(n)
#endif

/*
 * AIRY_FP64: double is there. AIRY_INT64_ATOMICS: atom_add and the like on 64-bit integers, also
 * in local memory.
 */
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define AIRY_FP64 1
#endif
#if defined(cl_khr_int64_base_atomics) && defined(cl_khr_int64_extended_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define AIRY_INT64_ATOMICS 1
#endif

/*
 * NVIDIA: the 32 work-items of a warp exchange values in registers. AIRY_WARP is defined where
 * this exists; elsewhere kernels go through local memory and barriers. All 32 items must arrive at
 * each of these calls together, so work-groups are multiples of 32 and no item has returned.
 *   AIRY_WARP_SYNC()        items wait for each other, and see each other's writes to local and
 *                           global memory
 *   AIRY_PART_SYNC(n)       barrier(CLK_LOCAL_MEM_FENCE) of the first n items of a group, a constant
 *                           number of warps, alone
 *   AIRY_BALLOT(p)          bit i: item i of the warp has p != 0
 *   AIRY_SHUFFLE(v, i)      v of item i (mod 32)
 *   AIRY_SHUFFLE_XOR(v, m)  v of item (own index ^ m), m < 32
 *   AIRY_SHUFFLE_UP(v, d)   v of item (own index - d), the own v where that is below 0
 *   AIRY_BYTES(a, b, s)     four of the eight bytes of two words (no exchange: any item, any time)
 *   AIRY_ADD_64(sum, v)     atom_add without a result (likewise)
 *   AIRY_BITS(a, b, m)      bitselect in one instruction, which compilers take apart (likewise)
 *   AIRY_FENCE()            what the item wrote to global memory is seen before what it writes
 *                           next, by all groups; mem_fence promises it to the own group (likewise)
 *   AIRY_LOOK(p)            the u32 there as other groups have written it by now (likewise)
 *   AIRY_TELL(p, v)         *p = v; what the item wrote before, and what it saw of others, is there
 *                           for a host that finds v (likewise; elsewhere OpenCL promises that at
 *                           the kernel's end alone)
 *   AIRY_ANEW(i)            the compiler no longer knows the integer i: what a loop makes of it is
 *                           made there, and takes no registers before (likewise)
 *   AIRY_LOG2(x)            to 2^-22 or so; x not below 2^-126 (likewise)
 *
 * Loads into local memory that go on in the background, so that any number can be on their way at
 * a time without taking registers; elsewhere they are copies like any others.
 *   AIRY_FETCH4(to, i, from, there)  a value of 4 bytes to to[i]; 0 where it is not there
 *   AIRY_FETCH8(to, i, from)         a value of 8 bytes
 *   AIRY_FETCH16(to, from)           16 bytes to *to, of the same type, both aligned
 *   AIRY_FETCHED()                   the item's own have arrived; others see them after a barrier
 *   AIRY_FETCH_END()                 ends a batch of them
 *   AIRY_FETCHED_BUT(n)              all of the item's but the last n batches have arrived
 */
#ifdef __NV_CL_C_VERSION
#define AIRY_WARP         32
#define AIRY_WARP_SYNC()  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#define AIRY_PART_SYNC(n) asm volatile("bar.sync 1, %0;" : : "n"(n) : "memory")

static inline uint airy_ballot(uint p)
{
    uint bits;
    asm volatile("{ .reg .pred q; setp.ne.u32 q, %1, 0; vote.sync.ballot.b32 %0, q, 0xffffffff; }"
                 : "=r"(bits)
                 : "r"(p));
    return bits;
}

static inline uint airy_shuffle(uint v, uint i)
{
    uint r;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(r) : "r"(v), "r"(i));
    return r;
}

static inline uint airy_shuffle_xor(uint v, uint m)
{
    uint r;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(r) : "r"(v), "r"(m));
    return r;
}

static inline uint airy_shuffle_up(uint v, uint d)
{
    uint r;
    asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(r) : "r"(v), "r"(d));
    return r;
}

/*
 * Any four bytes of a (0 to 3) and b (4 to 7): a digit of the selector each, the lowest byte's in
 * the lowest digit.
 */
static inline uint airy_bytes(uint a, uint b, uint selector)
{
    uint r;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(selector));
    return r;
}

static inline uint airy_bits(uint a, uint b, uint mask)
{
    uint r;
    asm("lop3.b32 %0, %1, %2, %3, 0xd8;" : "=r"(r) : "r"(a), "r"(b), "r"(mask));
    return r;
}

/* Copies to local memory that go on by themselves, from compute capability 8.0 on; 0: older devices. */
#ifndef AIRY_FETCHES
#define AIRY_FETCHES 1
#endif
#if AIRY_FETCHES
static inline void airy_fetch4(uint to, __global const void *from, uint bytes)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :
                 : "r"(to), "l"(from), "r"(bytes)
                 : "memory");
}

static inline void airy_fetch16(uint to, __global const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory");
}

static inline void airy_fetch8(uint to, __global const void *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" : : "r"(to), "l"(from) : "memory");
}

/* An address in local memory has 32 bits, to which ptxas adds constants for nothing. */
#define AIRY_FETCH4(to, i, from, there)                                                            \
    airy_fetch4((uint)(size_t)(to) + 4u * (i), (from), (there) ? 4u : 0u)
#define AIRY_FETCH8(to, i, from) airy_fetch8((uint)(size_t)(to) + 8u * (i), (from))
#define AIRY_FETCH16(to, from)   airy_fetch16((uint)(size_t)(to), (from))
#define AIRY_FETCHED()           asm volatile("cp.async.wait_all;" ::: "memory")
#define AIRY_FETCH_END()         asm volatile("cp.async.commit_group;" ::: "memory")
#define AIRY_FETCHED_BUT(n)      asm volatile("cp.async.wait_group %0;" : : "n"(n) : "memory")
#endif

static inline void airy_add_64(__global ulong *sum, ulong v)
{
    asm volatile("red.global.add.u64 [%0], %1;" : : "l"(sum), "l"(v) : "memory");
}

static inline uint airy_look(__global const uint *p)
{
    uint v;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

static inline void airy_tell(__global uint *p, uint v)
{
    asm volatile("st.release.sys.global.u32 [%0], %1;" : : "l"(p), "r"(v) : "memory");
}

static inline float airy_log2(float x)
{
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

#define AIRY_ANEW(i)               asm volatile("" : "+r"(i))
#define AIRY_LOG2(x)               airy_log2(x)
#define AIRY_LOOK(p)               airy_look(p)
#define AIRY_TELL(p, v)            airy_tell((p), (v))
#define AIRY_FENCE()               asm volatile("fence.acq_rel.gpu;" ::: "memory")
#define AIRY_ADD_64(sum, v)        airy_add_64((sum), (v))
#define AIRY_BYTES(a, b, selector) airy_bytes((a), (b), (selector))
#define AIRY_BITS(a, b, mask)      airy_bits((a), (b), (mask))
#define AIRY_BALLOT(p)             airy_ballot((uint)((p) != 0))
#define AIRY_SHUFFLE(v, i)         airy_shuffle((v), (i))
#define AIRY_SHUFFLE_XOR(v, m)     airy_shuffle_xor((v), (m))
#define AIRY_SHUFFLE_UP(v, d)      airy_shuffle_up((v), (d))
#else
static inline void airy_tell(__global uint *p, uint v)
{
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    (void)atomic_xchg(p, v);
}

#define AIRY_ANEW(i)
#define AIRY_FENCE()          mem_fence(CLK_GLOBAL_MEM_FENCE)
#define AIRY_LOOK(p)          atomic_or((p), 0u)
#define AIRY_TELL(p, v)       airy_tell((p), (v))
#define AIRY_LOG2(x)          log2(x)
#define AIRY_BITS(a, b, mask) bitselect((a), (b), (mask))
#endif

#ifndef AIRY_FETCHED
#define AIRY_FETCH4(to, i, from, there) ((to)[i] = (there) ? *(from) : 0)
#define AIRY_FETCH8(to, i, from)        ((to)[i] = *(from))
#define AIRY_FETCH16(to, from)          (*(to) = *(from))
#define AIRY_FETCHED()
#define AIRY_FETCH_END()
#define AIRY_FETCHED_BUT(n)
#endif
