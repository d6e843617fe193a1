# The commands people type; `make help` lists them. CMake does the work; its output is shown when something fails.
BUILD    ?= build
SANITIZE ?= build-sanitize
PREFIX   ?= /usr/local
PYTHON    = auto
JOBS     ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
DEMO     ?= results/demo
BENCHES   = naive $(filter-out naive run,$(patsubst bench/bench_%.c,%,$(sort $(wildcard bench/bench_*.c)))) run
C_FILES   = $(wildcard src/*/*.[ch] cli/*.[ch] serve/*.[ch] include/superarm/*.h tests/*.[ch] bench/*.[ch] examples/*.c python/tests/*.c)

.PHONY: help build test demo bench measured measured-quick benches site check check-changed check-extra fuzz install wheel deb format check-format clean
.DEFAULT_GOAL := build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## installs what is missing (Debian, Ubuntu) and builds build/superarm; so does plain `make`
	@tools/setup
	@tools/build $(BUILD) $(JOBS) -DCMAKE_BUILD_TYPE=Release -DSUPERARM_PYTHON=$(PYTHON)

test: ## sets up, builds and runs the tests
	@tools/setup --test
	@tools/build $(BUILD) $(JOBS) -DCMAKE_BUILD_TYPE=Release -DSUPERARM_PYTHON=$(PYTHON)
	@ctest --test-dir $(BUILD) --output-on-failure -j4

demo: ## sets up and builds the program, and runs an experiment of a minute; its report is in results/demo
	@tools/setup --program
	@tools/build --program $(BUILD) $(JOBS) -DCMAKE_BUILD_TYPE=Release -DSUPERARM_PYTHON=$(PYTHON)
	@tools/demo $(BUILD)/superarm $(DEMO)

benches: build ## builds the benchmarks, build/bench_*
	@tools/setup --bench
	@tools/build $(BUILD) $(JOBS) # finds OpenBLAS now
	@cmake --build $(BUILD) -j$(JOBS) --target bench >/dev/null

bench: benches ## measures what rounds, widths and trainings cost
	@for name in $(BENCHES); do OPENBLAS_NUM_THREADS=1 $(BUILD)/bench_$$name || exit 1; echo; done

measured: benches ## makes every page of docs/measured again, which takes hours; tools/measured NAME makes one
	@tools/measured

measured-quick: benches ## runs a small version of each of their commands, in minutes, and writes nothing
	@tools/measured --quick

site: build ## the docs as a web site with search and the references of C and Python: build-site/html/index.html
	@tools/setup --site
	@tools/site

check: ## the tests with sanitizers, each fuzzer for five seconds, style, layers and static analysis
	@tools/setup --check
	@tools/build $(SANITIZE) $(JOBS) -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSUPERARM_SANITIZE=ON
	@ctest --test-dir $(SANITIZE) --output-on-failure -j4
	@tools/fuzz 5
	@tools/check-static
	@tools/check-layers
	@$(MAKE) --no-print-directory check-format

check-changed: ## the tests of what changed most with sanitizers, in a few minutes
	@tools/check-changed $(BUILD) $(SANITIZE)

check-extra: ## the tests and examples that want large packages: PyTorch, matplotlib, tqdm
	@tools/setup --extra
	@tools/build $(BUILD) $(JOBS) -DCMAKE_BUILD_TYPE=Release -DSUPERARM_PYTHON=$(PYTHON)
	@cmake --build $(BUILD) --target check_extra

fuzz: ## the fuzzers, a minute each
	@tools/setup --check
	@tools/fuzz 60

install: build ## the program, library and headers, to /usr/local or PREFIX=…
	@cmake --install $(BUILD) --prefix $(PREFIX)

wheel: build ## the Python package as a wheel
	@tools/setup --test
	@cmake --build $(BUILD) --target superarm_wheel

deb: build ## a Debian package: program, library, headers, man pages
	@tools/deb $(BUILD) dist

format: ## clang-format over the C files
	@clang-format -i $(C_FILES)

check-format: ## says which of them it would change, and which lines are over 110 columns
	@clang-format --dry-run --Werror $(C_FILES)
	@! grep -nE '^.{111,}' $(C_FILES) src/*/*.inc

clean: ## removes the build folders
	@rm -rf build build-*
