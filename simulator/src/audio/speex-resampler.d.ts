declare module '@echogarden/speex-resampler-wasm/simd' {
  /** The parts of the compiled module that we call; pointers are byte offsets into its memory. */
  type SpeexResampler = {
    HEAP16: Int16Array
    HEAPU32: Uint32Array
    _malloc(bytes: number): number
    _free(pointer: number): void
    _speex_resampler_init(channels: number, inHz: number, outHz: number, quality: number, errorPointer: number): number
    _speex_resampler_skip_zeros(state: number): number
    _speex_resampler_get_output_latency(state: number): number
    _speex_resampler_process_int(
      state: number,
      channel: number,
      input: number,
      inputLength: number,
      output: number,
      outputLength: number,
    ): number
    _speex_resampler_destroy(state: number): void
  }
  // biome-ignore lint/style/noDefaultExport: the package has no other.
  export default function load(): Promise<SpeexResampler>
}
