type Shown = { started_at: string; voice_session_id: string }

/** The order of live calls in lists, of one node or of all: those that began last come first, of two in one millisecond the one with the higher id. */
export function newestFirst(a: Shown, b: Shown): number {
  return descending(a.started_at, b.started_at) || descending(a.voice_session_id, b.voice_session_id)
}

/** Of what is written so that it has the order of its characters. */
function descending(a: string, b: string): number {
  return a === b ? 0 : a < b ? 1 : -1
}
