/** The part of the WebRTC voice detector, compiled to WebAssembly, that is used here. Handles are addresses in its memory. */
declare module '@echogarden/fvad-wasm' {
  export type Fvad = {
    readonly HEAP16: Int16Array
    _malloc(sizeBytes: number): number
    _free(address: number): void
    _fvad_new(): number
    _fvad_free(handle: number): void
    _fvad_reset(handle: number): void
    _fvad_set_mode(handle: number, mode: number): number
    _fvad_set_sample_rate(handle: number, rateHz: number): number
    _fvad_process(handle: number, samplesAddress: number, sampleCount: number): number
  }
  // biome-ignore lint/style/noDefaultExport: the package has no other.
  export default function load(): Promise<Fvad>
}
