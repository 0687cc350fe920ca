# The verbs of this package. `make demo` and `make test` work on a fresh clone with only the Swift toolchain.

SWIFT ?= swift

.PHONY: demo test lint format bench docs tsan crash fuzz setup

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

# Races: everything that runs on several threads, under ThreadSanitizer.
tsan: setup
	$(SWIFT) test --sanitize=thread --scratch-path .build/tsan --filter 'Concurrency|Laws|Model' $(ARGUMENTS)

# Killed processes, many more of them than `make test` kills.
crash: setup
	VELLUM_KILLS=500 $(SWIFT) test --filter CrashTests $(ARGUMENTS)

# Queries at random, many more than `make test` tries: with indexes, without, and from an array. VELLUM_SEED begins elsewhere.
fuzz: setup
	VELLUM_FUZZ=$${VELLUM_FUZZ:-500000} $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build/fuzz --filter DifferentialTests $(ARGUMENTS)

lint:
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Examples Snippets Benchmarks/Package.swift Benchmarks/Benchmarks

format:
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests Examples Snippets Benchmarks/Package.swift Benchmarks/Benchmarks

# Side by side with what a user would pick instead, in one run. Takes some minutes.
bench: setup
	@sh Benchmarks/run.sh $(ARGUMENTS)

# The documentation of the faces, with every warning an error.
FACES = Vellum MiniCache Shallows
SYMBOLS = $(CURDIR)/.build/docs/symbols
docs: setup
	@set -e; mkdir -p $(SYMBOLS) .build/documentation; for face in $(FACES); do \
		$(SWIFT) build --target $$face -Xswiftc -emit-symbol-graph -Xswiftc -emit-symbol-graph-dir -Xswiftc $(SYMBOLS) --scratch-path .build/docs; \
		rm -rf .build/symbols && mkdir -p .build/symbols && cp $(SYMBOLS)/$$face[.@]*.json .build/symbols; \
		docc convert Sources/$$face/Documentation.docc --additional-symbol-graph-dir .build/symbols --warnings-as-errors --output-path .build/documentation/$$face.doccarchive; \
		echo "The documentation lies in .build/documentation/$$face.doccarchive."; \
	done
