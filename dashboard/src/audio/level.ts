/** The loudest speech is about a third of what samples can hold. */
const LOUD = 0.35

/** Tells how loud something is at the moment: 0 to 1. */
export type Level = () => number

/** How loud what runs through the node is at the moment. */
export function levelOf(node: AnalyserNode): Level {
  const samples = new Float32Array(node.fftSize)
  return () => {
    node.getFloatTimeDomainData(samples)
    const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length
    return Math.min(1, Math.sqrt(power) / LOUD)
  }
}
