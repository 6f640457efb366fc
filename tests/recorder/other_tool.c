// An NVTX tool that is not the recorder, in place of nsys: writes the calls that it gets to the file
// OTHER_TOOL_LOG.
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>

static FILE* out;

static int push(const char* name) {
  fprintf(out, "push %s\n", name);
  return 0;
}

static int pop(void) {
  fprintf(out, "pop\n");
  return 0;
}

static nvtxRangeId_t start(const char* name) {
  fprintf(out, "start %s\n", name);
  return 4711;
}

static void end(nvtxRangeId_t range) {
  fprintf(out, "end %d\n", (int)range);
}

static void mark(const char* name) {
  fprintf(out, "mark %s\n", name);
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  const NvtxExportTableCallbacks* const callbacks = get_export_table(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable table;
  unsigned size = 0;
  for (int module = NVTX_CB_MODULE_CORE; module < NVTX_CB_MODULE_SIZE; ++module) {
    if (!callbacks->GetModuleFunctionTable((NvtxCallbackModule)module, &table, &size)) return 0;
  }
  if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size)) return 0;
  if (size != NVTX_CBID_CORE_SIZE) return 0;
  if (!out) out = fopen(getenv("OTHER_TOOL_LOG"), "w");
  if (!out) return 0;
  setvbuf(out, NULL, _IOLBF, 0);
  *table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
  *table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
  *table[NVTX_CBID_CORE_RangeStartA] = (NvtxFunctionPointer)start;
  *table[NVTX_CBID_CORE_RangeEnd] = (NvtxFunctionPointer)end;
  *table[NVTX_CBID_CORE_MarkA] = (NvtxFunctionPointer)mark;
  return 1;
}
