# The verbs of this package. `make demo` and `make test` work on a fresh clone with only the Swift toolchain.

SWIFT ?= swift

.PHONY: demo test lint format bench docs tsan asan crash faults damage fuzz soak setup

setup:
	@sh Scripts/setup.sh

# The main job on real data.
demo: setup
	@$(SWIFT) build -c release --product Airports
	@"$$($(SWIFT) build -c release --show-bin-path)/Airports" $(ARGUMENTS)

# In two runs, because tests that wait for threads slow those down that want a processor, and all have a time limit.
test: setup
	$(SWIFT) build --build-tests
ifeq ($(ARGUMENTS),)
	$(SWIFT) test --skip-build --parallel --filter Shallows
	$(SWIFT) test --skip-build --parallel --skip Shallows
else
	$(SWIFT) test --skip-build --parallel $(ARGUMENTS)
endif

# Every test under a sanitizer: races, and memory that is used as it must not be. What kills, forks or counts what the process holds
# runs by itself, without one.
SANITIZED = --skip 'CrashTests|FullDisk|ReadOnly|OpenFiles|aFileThatIsTooLarge|LittleStack'
tsan: setup
	$(SWIFT) build --build-tests --sanitize=thread --scratch-path .build/tsan
	$(SWIFT) test --skip-build --sanitize=thread --scratch-path .build/tsan --filter Shallows
	$(SWIFT) test --skip-build --sanitize=thread --scratch-path .build/tsan --skip Shallows $(SANITIZED) $(ARGUMENTS)

# Leaks are not asked for: XCTest has some, and tests of storages that never answer.
asan: setup
	$(SWIFT) build --build-tests --sanitize=address --scratch-path .build/asan
	ASAN_OPTIONS=detect_leaks=0 $(SWIFT) test --skip-build --sanitize=address --scratch-path .build/asan --filter Shallows
	ASAN_OPTIONS=detect_leaks=0 $(SWIFT) test --skip-build --sanitize=address --scratch-path .build/asan --skip Shallows \
		$(SANITIZED) $(ARGUMENTS)

# Killed processes, thousands, and every named point at least twenty times. VELLUM_SEED begins elsewhere.
crash: setup
	VELLUM_KILLS=$${VELLUM_KILLS:-2400} $(SWIFT) test --filter 'KillTests|OpeningTests|ManyProcesses|NeverStale|LogSize' $(ARGUMENTS)
	VELLUM_KILLS=100 $(SWIFT) test --skip-build --filter 'CrashTests.CrashTests|IndexCrashTests' $(ARGUMENTS)

# Power loss and failing disks: every image and every fault of the scenario; and the same for folders of Shallows.
faults: setup
	VELLUM_IMAGES=$${VELLUM_IMAGES:-all} VELLUM_FAULTS=$${VELLUM_FAULTS:-all} $(SWIFT) test --filter 'ReliabilityTests|DiskPowerLoss|NthFailure' $(ARGUMENTS)

# Every byte, every length and every page of a small store; VELLUM_DAMAGE=1000 tries so many of each kind.
damage: setup
	VELLUM_DAMAGE=$${VELLUM_DAMAGE:-all} $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build/fuzz --filter DamageTests $(ARGUMENTS)

# Several processes with mixed operations against a model, for so many seconds.
SECONDS ?= 60
soak: setup
	VELLUM_SOAK=$(SECONDS) $(SWIFT) test --filter SoakTests $(ARGUMENTS)

# Readers of bytes under libFuzzer, so many seconds each; then queries at random: with indexes, without, and from an array.
FUZZ_SECONDS ?= 30
FUZZ_TARGETS ?= files elements names longKeys keys cacheKeys values page cbor
fuzz: setup
	VELLUM_FUZZING=1 $(SWIFT) build --product Fuzz --scratch-path .build/libfuzzer -Xswiftc -sanitize=fuzzer
	@sh Scripts/fuzz.sh .build/libfuzzer/debug/Fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)
	VELLUM_FUZZ=$${VELLUM_FUZZ:-500000} $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build/fuzz --filter DifferentialTests $(ARGUMENTS)

lint:
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Examples Snippets Fuzzing Benchmarks/Package.swift Benchmarks/Benchmarks

format:
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests Examples Snippets Fuzzing Benchmarks/Package.swift Benchmarks/Benchmarks

# Side by side with what a user would pick instead, in one run. Takes some minutes.
bench: setup
	@sh Benchmarks/run.sh $(ARGUMENTS)

# The documentation of the faces, with every warning an error.
FACES = Vellum MiniCache Shallows CBORCoding TiersTesting
SYMBOLS = $(CURDIR)/.build/docs/symbols
docs: setup
	@set -e; mkdir -p $(SYMBOLS) .build/documentation; for face in $(FACES); do \
		$(SWIFT) build --target $$face -Xswiftc -emit-symbol-graph -Xswiftc -emit-symbol-graph-dir -Xswiftc $(SYMBOLS) --scratch-path .build/docs; \
		rm -rf .build/symbols && mkdir -p .build/symbols && cp $(SYMBOLS)/$$face[.@]*.json .build/symbols; \
		docc convert Sources/$$face/Documentation.docc --additional-symbol-graph-dir .build/symbols --warnings-as-errors --output-path .build/documentation/$$face.doccarchive; \
		echo "The documentation lies in .build/documentation/$$face.doccarchive."; \
	done
