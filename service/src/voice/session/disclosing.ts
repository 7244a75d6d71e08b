import { isClip } from './clip-id.ts'
import type { Plan } from './plan.ts'
import { isBridge, lastSeq, type PastTurn } from './resumption.ts'
import type { SessionState } from './state.ts'
import type { Entry } from './transcript.ts'
import { joined, letters } from './word-ends.ts'

/** What the law wants said before anything else, whoever is to say it; null where that is nothing. */
export function lawsWords({ disclosure, clips }: Plan): string | null {
  return disclosure ?? clips.find(({ kind }) => kind === 'disclosure')?.text ?? null
}

/** The same where nothing of the agent was heard yet, nor is about to be: its greeting was silenced, or others had the call before it. */
export function owedDisclosure(state: SessionState): string | null {
  const sentence = lawsWords(state.plan)
  if (sentence === null) return null
  return isFirstToCome(state) && saidOf(state).length === 0 ? sentence : null
}

/** Whether nothing of the agent was heard in an earlier session of the call, nor in what is too old of this one to be looked at. */
function isFirstToCome(state: SessionState): boolean {
  return state.transcript.past.turns === lastSeq(state.resumption?.turns ?? []) && saidBefore(state).length === 0
}

/**
 * The same where it was cut short, and nothing of the agent was heard since but its beginning: a session that takes the place of the one that was told so is
 * told, too, and so is the first one of a node that goes on with the call.
 *
 * @param isLeft whether what is still heard of it is all that there will be: who was saying it has not the call any more.
 */
export function cutDisclosure(state: SessionState, isLeft = false): string | null {
  const sentence = lawsWords(state.plan)
  if (sentence === null) return null
  const [first, ...others] = [...saidBefore(state), ...saidOf(state)]
  if (!first || !isCut(state, first, { sentence, isLeft })) return null
  return isBeginning([first, ...others], sentence) ? sentence : null
}

/** Whether no more than its beginning was heard, as where it was cut short once more while it was said again, or gone on with. */
function isBeginning(said: readonly { text: string }[], sentence: string): boolean {
  const whole = letters(sentence)
  let heard = ''
  return said.every(({ text }) => {
    const own = letters(text)
    heard = own !== '' && whole.startsWith(own) ? own : heard + own
    return heard.length < whole.length && whole.startsWith(heard)
  })
}

function isCut(
  state: SessionState,
  first: Entry | PastTurn,
  { sentence, isLeft }: { sentence: string; isLeft: boolean },
): boolean {
  // What is still to be heard is, but for what might stop it.
  const isComing = isLeft && 'itemId' in first && !first.isFinal
  const text = isComing ? joined(first.text, first.unheard) : first.text
  if (text.length >= sentence.length) return false
  if (!('itemId' in first)) return true
  return (first.isFinal || isLeft) && disclosureOf(state, first.itemId) !== null
}

function saidBefore({ resumption, plan }: SessionState): PastTurn[] {
  const turns = resumption?.turns ?? []
  return turns.filter((turn) => turn.role === 'agent' && turn.text !== '' && !isBridge(turn, plan))
}

/** What the agent has said, or is saying, in this session of the call, but for what only fills a wait. */
function saidOf({ transcript, clips, playback }: SessionState): Entry[] {
  const isFiller = ({ itemId }: Entry) => isClip(itemId) && !clips.played.some((one) => one.itemId === itemId)
  // An item may have been begun, and have come to no word.
  const hasWords = ({ itemId, text, unheard }: Entry) =>
    text !== '' || unheard !== '' || playback.utterances.some((one) => one.itemId === itemId)
  const isBegun = (entry: Entry) => entry.sentMs !== null || (!entry.isFinal && hasWords(entry))
  return transcript.entries.filter((entry) => entry.role === 'agent' && isBegun(entry) && !isFiller(entry))
}

/** The same as a session is told it behind the conversation so far; nothing where it is said. */
export function stillToSay(state: SessionState): string {
  const cut = cutDisclosure(state)
  return cut === null ? '' : `system: ${sayAgain(cut)}`
}

/** How a model is told to say it again. */
export function sayAgain(sentence: string): string {
  return `Before anything else say exactly this sentence, which was cut short: ${sentence}`
}

/** What the law wants said, where words of the agent's are to say it: a clip of it, or the first of a model. Null for any others. */
export function disclosureOf(state: SessionState, itemId: string): string | null {
  const { plan, clips } = state
  const index = clips.played.find((one) => one.itemId === itemId)?.index
  const clip = index === undefined ? undefined : plan.clips[index]
  if (clip) return clip.kind === 'disclosure' ? clip.text : null
  const first = saidOf(state).find((entry) => !isClip(entry.itemId))
  if (first?.itemId !== itemId || !isFirstToCome(state)) return null
  // Nor is a clip of it played again by who goes on with a call in which others have spoken.
  return clips.played.length === 0 ? lawsWords(plan) : (plan.disclosure ?? null)
}
