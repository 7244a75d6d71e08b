import type { SeenCall } from './call-watch.ts'

/** What became of a call whose node was killed. Times in ms since the kill; null for what did not happen. */
export type Comeback = {
  /** When a stream began that is still there. */
  streamMs: number | null
  /** When the first audio of ours came over it. */
  audioMs: number | null
  /** The same, counted from the end of what the caller said after the kill and before it: nobody answers earlier. */
  answerMs: number | null
  isInProgress: boolean
}

/** Reads it from what the carrier saw. */
export function comebackOf(call: SeenCall, killedMs: number): Comeback {
  const stream = call.streams.find(({ startedMs, endedMs }) => startedMs > killedMs && endedMs === null)
  const firstMediaMs = stream?.firstMediaMs ?? null
  return {
    streamMs: stream ? stream.startedMs - killedMs : null,
    audioMs: firstMediaMs === null ? null : firstMediaMs - killedMs,
    answerMs: firstMediaMs === null ? null : firstMediaMs - lastWordsBefore(call, firstMediaMs, killedMs),
    isInProgress: call.status === 'in-progress',
  }
}

/** The later of the kill and the end of what the caller said before the audio; the kill when it is still speaking then. */
function lastWordsBefore({ talked }: SeenCall, audioMs: number, killedMs: number): number {
  const ends = talked.map(({ endedMs }) => endedMs).filter((endMs) => endMs !== null && endMs <= audioMs)
  return Math.max(killedMs, ...ends.map(Number))
}
