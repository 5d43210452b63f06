# Everything on a fresh Debian 12 or Ubuntu 24.04:
#   make demo    install what is missing, build, simulate a stack, integrate it, print a table, draw a plot
#   make test    install what is missing, build, run the tests (make test TESTS= also those that only .ci/run runs: faults, installation,
#                scripts); of the cases on OpenCL devices one in 16
# Also: make (build only; it installs nothing and says what is missing), make test-all (all tests with all cases on OpenCL devices:
# more than an hour on two cores), make deps (install what the build needs), make install,
# make deb (Debian packages in deb/), make dist (the source in dist/), make bundle (a folder that runs elsewhere),
# make fuzz (each fuzzer for FUZZ_SECONDS, at random), make soak (streams for SECONDS and looks whether anything grows or changes),
# make bounds (images and stacks beyond 2^31 pixels, 10^6 frames: 8 GB of memory, minutes),
# make test-python (the package for Python, with PYTHON=python3, which needs NumPy),
# make coverage (which lines the tests reach; many minutes), make oclgrind (small cases of all kernels in a simulator; half an
# hour), make gallery (runs the commands of docs/gallery.md, whose pictures appear in $(BUILD)/gallery),
# make pages (runs the commands of all pages and makes the pictures of docs/pictures anew),
# make api (the API reference in $(BUILD)/api/html, by doxygen, which is not installed for it),
# make walk (as root: the README in a new Debian 12 in the folder WALK), make clean.

BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
SECONDS ?= 3600
WALK ?= walk
PYTHON ?= python3
# Arguments of meson test.
TESTS ?= --no-suite ci --no-suite release

.PHONY: all build deps demo test test-all test-python install bundle deb dist fuzz soak bounds coverage oclgrind api gallery pages walk clean

all: build

build:
	@scripts/deps.sh --check build
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) --prefix=$(PREFIX)
	@ninja -C $(BUILD) -j $(JOBS)

deps:
	@scripts/deps.sh build

demo:
	@scripts/deps.sh build demo
	@$(MAKE) --no-print-directory build
	@scripts/demo.sh $(BUILD)

test:
	@scripts/deps.sh build test
	@$(MAKE) --no-print-directory build
	@scripts/test.sh $(BUILD) $(TESTS)

test-all:
	@CHECK_SLICE=all $(MAKE) --no-print-directory test TESTS=

# Skipped, with a line that says why, where headers of Python or NumPy are missing.
test-python:
	@scripts/deps.sh build
	@if test -f $(BUILD)/build.ninja; then meson setup --reconfigure $(BUILD) -Dpython=auto; \
		else meson setup $(BUILD) --prefix=$(PREFIX) -Dpython=auto; fi >$(BUILD).python.log 2>&1 || { cat $(BUILD).python.log; exit 1; }
	@rm $(BUILD).python.log
	@ninja -C $(BUILD) -j $(JOBS) --quiet
	@$(PYTHON) python/tests/run.py $(BUILD)

install: build
	@meson configure $(BUILD) -Dprefix=$(PREFIX)
	@meson install -C $(BUILD)

# Without libtiff, which Debian links to libjbig: that is under the GPL, and a bundle hands its libraries on.
bundle:
	@scripts/deps.sh build bundle
	@test -f $(BUILD)/bundled/build.ninja || meson setup $(BUILD)/bundled --prefix=$(PREFIX) -Dtiff=disabled
	@ninja -C $(BUILD)/bundled -j $(JOBS)
	@scripts/bundle.sh $(BUILD)/bundled bundle

deb:
	@scripts/deps.sh build deb
	@JOBS=$(JOBS) scripts/deb.sh deb

# The same bytes from the same commit.
dist:
	@scripts/deps.sh dist
	@scripts/dist.sh dist

# The corpus grows in $(BUILD)/fuzz/corpus from run to run; what crashes is kept in $(BUILD)/fuzz/found.
fuzz:
	@scripts/deps.sh build ci
	@test -f $(BUILD)/fuzz/build.ninja || CC=clang meson setup $(BUILD)/fuzz --buildtype=debugoptimized -Dfuzz=true \
		-Db_sanitize=address,undefined -Db_lundef=false
	@ninja -C $(BUILD)/fuzz -j $(JOBS) fuzzers
	@JOBS=$(JOBS) scripts/fuzz.sh $(BUILD)/fuzz $(FUZZ_SECONDS)

soak: build
	@scripts/soak.sh $(BUILD)/tools/airy/airy $(SECONDS)

bounds: build
	@tests/fault/bounds.sh $(BUILD)/tools/airy/airy $(BUILD)/tests/fault/airy-bounds-files large

coverage:
	@scripts/deps.sh build test coverage
	@JOBS=$(JOBS) scripts/coverage.sh $(BUILD)/covered

oclgrind: build
	@scripts/deps.sh test oclgrind
	@JOBS=$(JOBS) scripts/oclgrind.sh $(BUILD)

api:
	@scripts/api.sh $(BUILD)/api
	@echo $(BUILD)/api/html/index.html

gallery:
	@scripts/deps.sh build demo
	@$(MAKE) --no-print-directory build
	@scripts/gallery.sh $(BUILD) $(BUILD)/gallery

pages:
	@scripts/deps.sh build demo
	@$(MAKE) --no-print-directory build
	@scripts/pages.py $(BUILD) --keep

walk:
	@scripts/walk.sh $(WALK)

clean:
	rm -rf $(BUILD) bundle demo deb dist
