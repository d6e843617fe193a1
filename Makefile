# The commands people type. CMake does the work; its output is shown when something fails.
BUILD    ?= build
SANITIZE ?= build-sanitize
PREFIX   ?= /usr/local
PYTHON    = auto
JOBS     ?= $(shell nproc 2>/dev/null || echo 2)
DEMO     ?= results/demo
BENCHES   = naive $(filter-out naive run,$(patsubst bench/bench_%.c,%,$(sort $(wildcard bench/bench_*.c)))) run
C_FILES   = $(wildcard src/*/*.[ch] cli/*.[ch] include/superarm/*.h tests/*.[ch] bench/*.[ch] examples/*.c python/tests/*.c)

.PHONY: build test demo bench check fuzz install wheel format check-format clean
.DEFAULT_GOAL := build

build:
	@tools/setup
	@tools/build $(BUILD) $(JOBS) -DCMAKE_BUILD_TYPE=Release -DSUPERARM_PYTHON=$(PYTHON)

test: build
	@ctest --test-dir $(BUILD) --output-on-failure -j2

demo: build
	@tools/demo $(BUILD)/superarm $(DEMO)

bench: build
	@for name in $(BENCHES); do OPENBLAS_NUM_THREADS=1 $(BUILD)/bench_$$name || exit 1; echo; done

check:
	@tools/setup --check
	@tools/build $(SANITIZE) $(JOBS) -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSUPERARM_SANITIZE=ON
	@ctest --test-dir $(SANITIZE) --output-on-failure -j2
	@tools/check-static
	@tools/check-layers
	@$(MAKE) --no-print-directory check-format

fuzz:
	@tools/setup --check
	@tools/fuzz 60

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

wheel: build
	@cmake --build $(BUILD) --target superarm_wheel

format:
	@clang-format -i $(C_FILES)

check-format:
	@clang-format --dry-run --Werror $(C_FILES)

clean:
	@rm -rf build build-*
