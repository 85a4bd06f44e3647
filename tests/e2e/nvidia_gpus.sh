#!/usr/bin/env bash
# Real GPUs as far as a machine without any can tell: a stand-in for the driver's library says what GPUs there are, or why there are none.
. "$(dirname "$0")/common.bash"

compiler=$(command -v cc || command -v gcc || command -v g++ || command -v clang-19) || skip "there is no C compiler"
[ ! -e /proc/driver/nvidia ] || skip "this machine has an NVIDIA driver of its own"

# Three GPUs that the library lists in an order of its own; the first two are joined by NVLink. FAKE_INIT and FAKE_LOST script failures.
cat >"$scratch/nvml.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { int number; } *device;
typedef struct { char legacy[16]; unsigned domain, bus, device, id, sub; char bus_id[32]; } pci_info;
static int numbers[3] = {0, 1, 2};
static const char* buses[3] = {"00000000:C1:00.0", "00000000:41:00.0", "00000000:42:00.0"};
static int setting(const char* name) { const char* v = getenv(name); return v ? atoi(v) : -1; }
int nvmlInit_v2(void) { return setting("FAKE_INIT") > 0 ? setting("FAKE_INIT") : 0; }
int nvmlShutdown(void) { return 0; }
const char* nvmlErrorString(int code) { return code == 4 ? "Insufficient Permissions" : "Something"; }
int nvmlDeviceGetCount_v2(unsigned* n) { *n = 3; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, device* d) {
  if ((int)i == setting("FAKE_LOST")) return 15;
  *d = (device)&numbers[i];
  return 0;
}
int nvmlDeviceGetName(device d, char* out, unsigned n) { snprintf(out, n, d->number == 0 ? "NVIDIA Unheard-of 9000" : "NVIDIA H200"); return 0; }
int nvmlDeviceGetUUID(device d, char* out, unsigned n) { snprintf(out, n, "GPU-0000000%d-aaaa", d->number); return 0; }
int nvmlDeviceGetMemoryInfo(device d, unsigned long long* m) { m[0] = (d->number == 0 ? 24ULL : 141ULL) << 30; m[1] = m[0]; m[2] = 0; return 0; }
int nvmlDeviceGetPciInfo_v3(device d, pci_info* p) { memset(p, 0, sizeof *p); strcpy(p->bus_id, buses[d->number]); return 0; }
int nvmlDeviceGetCudaComputeCapability(device d, int* major, int* minor) { *major = 9; *minor = d->number; return 0; }
int nvmlDeviceGetNvLinkState(device d, unsigned link, int* on) { *on = d->number != 0 && link < 4; return 0; }
int nvmlDeviceGetNvLinkRemotePciInfo_v2(device d, unsigned link, pci_info* p) { (void)link; memset(p, 0, sizeof *p); strcpy(p->bus_id, buses[3 - d->number]); return 0; }
C
mkdir "$scratch/lib"
"$compiler" -x c -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -o "$scratch/lib/libnvidia-ml.so.1" "$scratch/nvml.c" 2>/dev/null || skip "no shared library can be built here"
export LD_LIBRARY_PATH=$scratch/lib

serve
try "$WEFT" run -G 2 -- sh -c 'echo $CUDA_VISIBLE_DEVICES $NVIDIA_VISIBLE_DEVICES'
[ "$out" = "GPU-00000001-aaaa,GPU-00000002-aaaa GPU-00000001-aaaa,GPU-00000002-aaaa" ] || fail "two GPUs that are joined: '$out' '$err'"
try "$WEFT" run -- sh -c 'echo $CUDA_VISIBLE_DEVICES $NVIDIA_VISIBLE_DEVICES'
[ "$out" = "-1 none" ] || fail "without GPUs a job sees '$out'"
try "$WEFT" run --gpu H200 -- sh -c 'echo $CUDA_VISIBLE_DEVICES'
expect_in "GPU-00000001-aaaa" "$out" "an H200"
table=$("$WEFT" nodes)
expect_in "0000:41:00.0  GPU-00000001-aaaa" "$table" "the order is the bus order"
order=$("$WEFT" nodes --json | python3 -c 'import json, sys; print(*[gpu["bus_id"] for gpu in json.load(sys.stdin)["nodes"][0]["gpus"]])')
[ "$order" = "0000:41:00.0 0000:42:00.0 0000:c1:00.0" ] || fail "the order is not the bus order but $order"
expect_in "GPU 0 is a NVIDIA Unheard-of 9000, which the catalogue does not know" "$(cat "$scratch/serve.err")" "an unknown model"
stop_server

FAKE_LOST=1 serve
expect_in "GPU 1 is not used: it has fallen off the bus" "$(cat "$scratch/serve.err")" "a lost GPU"
expect_in "of 2" "$("$WEFT" nodes)" "the others"
stop_server

for failure in "9:kernel driver is not loaded" "18:updated but its old kernel module still runs; reboot" "4:Insufficient Permissions"; do
  FAKE_INIT=${failure%%:*} serve
  expect_in "${failure#*:}" "$(cat "$scratch/serve.err")" "NVML code ${failure%%:*}"
  expect_in "0 of 0" "$("$WEFT" nodes)" "CPUs only"
  "$WEFT" run -- true || fail "CPUs only: a job failed"
  stop_server
done

expect_refusal "virtual GPUs beside real ones" "$WEFT" serve --virtual-gpus 2 --state-dir "$scratch/other"
expect_in "this one has 3" "$err" "virtual GPUs beside real ones"
