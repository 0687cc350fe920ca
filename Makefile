# `make demo` and `make test` work on a fresh clone with only the Swift toolchain.

SWIFT ?= swift

.PHONY: demo demo-fleet bench-shared test test-shared fleet lint format bench measure docs tsan asan crash faults damage fuzz soak setup

setup:
	@sh Scripts/setup.sh

# Runs the example on real data. Its archives are kept in the build folder, unless the arguments name another.
demo: setup
	@$(SWIFT) build -c release --product AirportsBefore
	@$(SWIFT) build -c release --product Airports
	@"$$($(SWIFT) build -c release --show-bin-path)/Airports" $(ARGUMENTS) .build/Airports

# Four processes, one server that is killed and comes back, and a slow source.
demo-fleet: setup
	@sh Scripts/setup.sh redis-server redis-server redis
	@$(SWIFT) build -c release --product Fleet --traits Valkey --scratch-path .build/shared
	@"$$($(SWIFT) build -c release --show-bin-path --traits Valkey --scratch-path .build/shared)/Fleet"

# Shared caches beside a bare connection, a cache of one machine and the server's own benchmark.
bench-shared: setup
	@sh Scripts/setup.sh redis-server redis-server redis
	@sh Scripts/setup.sh hiredis libhiredis-dev hiredis-devel || true
	@$(SWIFT) build -c release --product SharedBenchmark --traits Valkey --scratch-path .build/shared
	@cc -O2 -o .build/shared/hiredis_get Benchmarks/hiredis_get.c -lhiredis || rm -f .build/shared/hiredis_get
	@HIREDIS=.build/shared/hiredis_get \
		"$$($(SWIFT) build -c release --show-bin-path --traits Valkey --scratch-path .build/shared)/SharedBenchmark"

# Runs all tests, Shallows first: tests that wait for threads would slow down tests that need the processor, and all have a time limit.
# The user's cache folder is a temporary one: it may hold files of another version of this package.
TEST = caches=$$(mktemp -d) && trap 'rm -rf "$$caches"' EXIT && XDG_CACHE_HOME="$$caches" $(SWIFT) test
test: setup
	$(SWIFT) build --build-tests
ifeq ($(ARGUMENTS),)
	$(TEST) --skip-build --parallel --filter Shallows
	$(TEST) --skip-build --parallel --skip Shallows
else
	$(TEST) --skip-build --parallel $(ARGUMENTS)
endif

# Runs the tests of shared caches, which start servers of their own. Built apart, because a trait changes what is built. TLS=1 runs them
# with the trait `ValkeyTLS`, whose library takes minutes to build.
SHARED = --traits $(if $(TLS),ValkeyTLS --scratch-path .build/shared-tls,Valkey --scratch-path .build/shared)
test-shared: setup
	@sh Scripts/setup.sh redis-server redis-server redis
	@SWIFT="$(SWIFT)" sh Scripts/check-traits.sh
	$(SWIFT) build --build-tests $(SHARED)
	$(TEST) --skip-build --parallel $(SHARED) --filter ValkeyTests $(ARGUMENTS)

# Eight processes that share a cache while something goes wrong, each trouble for SECONDS. VELLUM_SEED selects another seed.
SECONDS ?= 60
fleet: setup
	@sh Scripts/setup.sh redis-server redis-server redis
	$(SWIFT) build --build-tests --traits Valkey --scratch-path .build/shared
	VELLUM_FLEET=$(SECONDS) $(SWIFT) test --skip-build --traits Valkey --scratch-path .build/shared --filter FleetTests $(ARGUMENTS)

# Run the tests under ThreadSanitizer or AddressSanitizer, except those that kill, fork or count the resources of a process.
SANITIZED = --skip 'CrashTests|FullDisk|ReadOnly|OpenFiles|aFileThatIsTooLarge|LittleStack'
tsan: setup
	$(SWIFT) build --build-tests --sanitize=thread --scratch-path .build/tsan
	$(TEST) --skip-build --sanitize=thread --scratch-path .build/tsan --filter Shallows
	$(TEST) --skip-build --sanitize=thread --scratch-path .build/tsan --skip Shallows $(SANITIZED) $(ARGUMENTS)

# Leaks are not checked: XCTest and tests of storages that never reply have some.
asan: setup
	$(SWIFT) build --build-tests --sanitize=address --scratch-path .build/asan
	export ASAN_OPTIONS=detect_leaks=0; $(TEST) --skip-build --sanitize=address --scratch-path .build/asan --filter Shallows
	export ASAN_OPTIONS=detect_leaks=0; $(TEST) --skip-build --sanitize=address --scratch-path .build/asan --skip Shallows \
		$(SANITIZED) $(ARGUMENTS)

# Kills thousands of processes, and each crash point at least twenty times. VELLUM_SEED selects another seed.
crash: setup
	VELLUM_KILLS=$${VELLUM_KILLS:-2400} $(SWIFT) test --filter 'KillTests|OpeningTests|ManyProcesses|NeverStale|LogSize|TwoVersions' $(ARGUMENTS)
	export VELLUM_KILLS=100; $(TEST) --skip-build --filter 'CrashTests.CrashTests|IndexCrashTests' $(ARGUMENTS)

# Tests power loss and failing disks: every image and every fault of the scenario, also for folders of Shallows.
faults: setup
	VELLUM_IMAGES=$${VELLUM_IMAGES:-all} VELLUM_FAULTS=$${VELLUM_FAULTS:-all} $(SWIFT) test --filter 'ReliabilityTests|DiskPowerLoss|NthFailure' $(ARGUMENTS)

# Damages every byte, every length and every page of a small store. VELLUM_DAMAGE=1000 tries 1000 of each kind.
damage: setup
	VELLUM_DAMAGE=$${VELLUM_DAMAGE:-all} $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build/fuzz --filter DamageTests $(ARGUMENTS)

# Runs mixed operations of several processes against a model, for SECONDS.
soak: setup
	VELLUM_SOAK=$(SECONDS) $(SWIFT) test --filter SoakTests $(ARGUMENTS)

# Runs libFuzzer on readers of untrusted bytes, FUZZ_SECONDS each; then compares random queries with indexes, without, and on an array.
FUZZ_SECONDS ?= 30
FUZZ_TARGETS ?= files elements names longKeys keys cacheKeys values page cbor resp records
fuzz: setup
	VELLUM_FUZZING=1 $(SWIFT) build --product Fuzz --scratch-path .build/libfuzzer -Xswiftc -sanitize=fuzzer
	@sh Scripts/fuzz.sh .build/libfuzzer/debug/Fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)
	VELLUM_FUZZ=$${VELLUM_FUZZ:-500000} $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build/fuzz --filter DifferentialTests $(ARGUMENTS)

lint:
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Examples Snippets Fuzzing Benchmarks/Package.swift Benchmarks/Benchmarks Benchmarks/Shared

format:
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests Examples Snippets Fuzzing Benchmarks/Package.swift Benchmarks/Benchmarks Benchmarks/Shared

# Compares with alternative libraries, in one run. Takes several minutes.
bench: setup
	@sh Scripts/setup.sh lmdb liblmdb-dev lmdb-devel || true
	@sh Benchmarks/run.sh $(ARGUMENTS)

# Builds the documentation of the products, and of what they export again from other modules, in one archive. Warnings are errors.
# Compiles anew each time: the compiler does not write a symbol graph again if only comments in another module have changed.
PRODUCTS = Vellum MiniCache Shallows ShallowsSQLite CBORCoding MiniCacheValkey ShallowsValkey
DOCS = $(CURDIR)/.build/docs
docs: setup
	@rm -rf $(DOCS)/*-*-* $(DOCS)/symbols $(DOCS)/graphs $(DOCS)/archives .build/documentation; mkdir -p $(DOCS)/symbols $(DOCS)/archives .build/documentation
	@set -e; for product in $(PRODUCTS); do \
		$(SWIFT) build --target $$product --traits Valkey --scratch-path $(DOCS) \
			-Xswiftc -emit-symbol-graph -Xswiftc -emit-symbol-graph-dir -Xswiftc $(DOCS)/symbols; \
		graphs=$(DOCS)/graphs/$$product; mkdir -p $$graphs; \
		for graph in $(DOCS)/symbols/$$product@*.json; do if [ -e "$$graph" ]; then cp "$$graph" $$graphs; fi; done; \
		cp $(DOCS)/symbols/$$product.symbols.json $$graphs; \
		for module in VellumCore VellumRemote VellumValkey; do \
			if [ -e $(DOCS)/symbols/$$module.symbols.json ]; then \
				$(SWIFT) Scripts/reexported.swift $$graphs/$$product.symbols.json $(DOCS)/symbols/$$module.symbols.json \
					$$graphs/$$product.symbols.json; \
			fi; \
		done; \
		docc convert Sources/$$product/Documentation.docc --additional-symbol-graph-dir $$graphs --warnings-as-errors \
			--fallback-display-name $$product --fallback-bundle-identifier $$product \
			--output-path $(DOCS)/archives/$$product.doccarchive; \
	done
	@if docc merge --help >/dev/null 2>&1; then \
		docc merge $(DOCS)/archives/*.doccarchive --synthesized-landing-page-name Vellum \
			--output-path .build/documentation/Vellum.doccarchive; \
	else \
		mv $(DOCS)/archives/*.doccarchive .build/documentation; \
	fi
	@echo "The documentation is in .build/documentation."

# Figures of the sources that are reported and not limited.
measure:
	@sh Scripts/measure.sh
