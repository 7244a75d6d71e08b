type Turn = { seq: number; start_ms: number; end_ms: number }

/**
 * Whose words are heard at an instant of the recording: those that began last by then, wherever they stand in the transcript. Null
 * before the first. Notes and whispers have no sound, and so no length.
 */
export function playedTurn(turns: readonly Turn[], atMs: number): number | null {
  let played: Turn | null = null
  for (const turn of turns) {
    const isHeard = turn.end_ms > turn.start_ms && turn.start_ms <= atMs
    if (isHeard && turn.start_ms >= (played?.start_ms ?? 0)) played = turn
  }
  return played?.seq ?? null
}
