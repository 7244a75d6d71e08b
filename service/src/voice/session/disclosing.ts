import { isClip } from './clip-id.ts'
import type { SessionState } from './state.ts'

/** What the law wants said, where words of the agent's are to say it: a clip of it, or the first of a model. Null for any others. */
export function disclosureOf({ plan, clips, transcript }: SessionState, itemId: string): string | null {
  const index = clips.played.find((one) => one.itemId === itemId)?.index
  const clip = index === undefined ? undefined : plan.clips[index]
  if (clip) return clip.kind === 'disclosure' ? clip.text : null
  const first = transcript.entries.find((entry) => entry.role === 'agent' && !isClip(entry.itemId))
  return transcript.past.turns === 0 && first?.itemId === itemId ? (plan.disclosure ?? null) : null
}
