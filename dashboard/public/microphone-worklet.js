// Hands on what the microphone hears, 20 ms at a time, at whatever rate the machine has.
class MicrophoneBlocks extends AudioWorkletProcessor {
  constructor() {
    super()
    this.block = new Float32Array(Math.round(sampleRate / 50))
    this.filled = 0
  }

  process([[heard] = []]) {
    for (let at = 0; heard && at < heard.length; ) {
      const part = heard.subarray(at, at + this.block.length - this.filled)
      this.block.set(part, this.filled)
      this.filled += part.length
      at += part.length
      if (this.filled === this.block.length) this.#handOn()
    }
    return true
  }

  #handOn() {
    this.port.postMessage(this.block.slice())
    this.filled = 0
  }
}

registerProcessor('microphone-blocks', MicrophoneBlocks)
