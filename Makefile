# Waymark: `make help` lists what there is.

SWIFT ?= swift
# How many inputs `make fuzz` makes, and from which seed.
COUNT ?= 10000000
SEED ?= 1
# Where `make run` gets locations from, as waymarkd's --source takes it.
SOURCE ?= nmea:file:data/tracks/vienna-walk.nmea?loop=yes

# Where reference programs and recorded data lie, which are not part of this project.
SHARED ?= ../shared

build_packages = libdbus-1-dev libgps-dev libsystemd-dev pkg-config
run_packages = $(build_packages) dbus-daemon
bench_packages = $(run_packages) gcc gpsbabel libc6-dev
test_packages = $(run_packages) avahi-daemon avahi-utils dbus-bin gpsd gpsd-clients iproute2 \
	libglib2.0-bin python3 python3-dbus python3-dbusmock systemd

debug = .build/debug

.DEFAULT_GOAL := help
.PHONY: help build run test example bench fuzz asan tsan lint format release clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1|/p' $(MAKEFILE_LIST) \
	| while IFS='|' read -r name text; do printf '  make %-9s %s\n' "$$name" "$$text"; done
	@printf '\n  SOURCE=gpsd:localhost:2947 with `make run` uses a real gpsd.\n'
	@printf '  COUNT=100000 SEED=7 with `make fuzz` makes fewer inputs, and others.\n'

build: ## build the daemon, the tool and the libraries
	@.ci/require $(build_packages)
	$(SWIFT) build

run: ## show it at work: a bus of its own, the service, and a program that is told locations
	@.ci/require $(run_packages)
	$(SWIFT) build --product waymarkd
	$(SWIFT) build --product waymark
	@data/demo/run $(debug) '$(SOURCE)'

test: ## run all tests
	@.ci/require $(test_packages)
	$(SWIFT) build --build-tests
	timeout --kill-after=10 1500 $(SWIFT) test --skip-build --disable-xctest

example: ## build the example package, which uses the D-Bus wrapper from outside, and run it
	@.ci/require $(test_packages)
	SWIFT="$(SWIFT)" Tests/ExamplePackage/run "$(CURDIR)/.build/example"

bench: ## measure the D-Bus wrapper beside a service in C, and the reader of NMEA: targets
	@.ci/require $(bench_packages)
	$(SWIFT) build --configuration release --static-swift-stdlib --product bench-dbus-service
	$(SWIFT) build --configuration release --static-swift-stdlib --product bench-dbus
	$(SWIFT) build --configuration release --static-swift-stdlib --product bench-nmea
	@timeout --kill-after=10 900 .build/release/bench-dbus '$(SHARED)'
	@timeout --kill-after=10 300 .build/release/bench-nmea '$(SHARED)'

fuzz: ## feed the decoder of messages and the reader of NMEA millions of damaged inputs
	@.ci/require $(build_packages)
	$(SWIFT) build --configuration release --product fuzz-dbus
	$(SWIFT) build --configuration release --product fuzz-nmea
	.build/release/fuzz-dbus --count $(COUNT) --seed $(SEED)
	.build/release/fuzz-nmea --count $(COUNT) --seed $(SEED) Tests/Fuzz/NMEA/corpus

asan: ## run all tests under the address and leak sanitizer
	@.ci/require $(test_packages)
	$(SWIFT) build --build-tests --sanitize address --scratch-path .build/asan
	LSAN_OPTIONS=suppressions=Tests/leaks.supp:print_suppressions=0 timeout --kill-after=10 1500 \
		$(SWIFT) test --skip-build --disable-xctest --sanitize address --scratch-path .build/asan

tsan: ## run all tests under the thread sanitizer
	@.ci/require $(test_packages)
	$(SWIFT) build --build-tests --sanitize thread --scratch-path .build/tsan
	timeout --kill-after=10 1500 \
		$(SWIFT) test --skip-build --disable-xctest --sanitize thread --scratch-path .build/tsan

lint: ## check the format and the documentation comments
	@.ci/require $(build_packages)
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests

format: ## bring the sources into the project's format
	$(SWIFT) format --in-place --parallel --recursive Package.swift Sources Tests

release: ## build the daemon and the tool as they are installed, with Swift's libraries inside
	@.ci/require $(build_packages)
	$(SWIFT) build --configuration release --static-swift-stdlib --product waymarkd
	$(SWIFT) build --configuration release --static-swift-stdlib --product waymark

clean: ## remove what was built
	rm -rf .build
