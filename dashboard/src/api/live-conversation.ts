/** Something that was said, or is being said. */
export type LiveTurn = {
  seq: number
  role: 'caller' | 'agent' | 'system' | 'supervisor'
  /** Which agent has said it; null while it goes on, and where that is not known. */
  agent_name: string | null
  text: string
  /** What was made to be said after that, and nobody heard. */
  unheard: string
  start_ms: number
  /** 0 while it goes on. */
  end_ms: number
  interrupted: boolean
  /** By which it is known until it has its place. */
  item_id: string
  /** It goes on. */
  isOpen: boolean
  /** How long the caller waited for it; null when that was not measured. */
  response_ms: number | null
}

/** A tool that the agent has called. */
export type LiveTool = { call_id: string; name: string; status: string }

/** A call as its events tell it. */
export type LiveConversation = {
  turns: LiveTurn[]
  /** By their item ids, what was being said when it was left, and nothing was told of since. */
  left: string[]
  tools: LiveTool[]
  isTakenOver: boolean
  /** Measured, and not yet anybody's turn. */
  nextResponseMs: number | null
  /** Why it is over; null while it goes on. */
  endReason: string | null
  /** It goes on with another stream. */
  hasMoved: boolean
}

/** Before anything was told. */
export const NOTHING_SAID: LiveConversation = {
  turns: [],
  left: [],
  tools: [],
  isTakenOver: false,
  nextResponseMs: null,
  endReason: null,
  hasMoved: false,
}

type Told = { event: string; data: unknown }
type Data = Record<string, unknown>

/** In place of an event: it is followed no longer for now. What was being said then goes on, or is over, when it is taken up again. */
export const LEFT: Told = { event: 'left', data: {} }

/** What is known after an event more. Events of other names, and repeated ones, change nothing. */
export function afterEvent(before: LiveConversation, { event, data: told }: Told): LiveConversation {
  const data = told as Data
  switch (event) {
    case 'turn_delta':
      return withWords(before, data)
    case 'turn':
      return withTurn(before, data)
    case 'tool':
      return withTool(before, data)
    case 'latency':
      return withLatency(before, Number(data['response_ms']))
    case 'state':
      return { ...before, isTakenOver: data['taken_over'] === true || isStill(before, data) }
    case 'moved':
      return { ...before, isTakenOver: false, hasMoved: true }
    case LEFT.event:
      return { ...before, left: before.turns.flatMap(({ isOpen, item_id }) => (isOpen ? [item_id] : [])) }
    case 'ended':
      return { ...before, isTakenOver: false, endReason: textIn(data['end_reason']) || 'ended' }
    default:
      return before
  }
}

/** A turn as it is written down. */
type WrittenTurn = Pick<
  LiveTurn,
  'seq' | 'role' | 'agent_name' | 'text' | 'unheard' | 'start_ms' | 'end_ms' | 'interrupted'
>

/** With what events have not told of it, as it was written down. */
export function withWritten(told: LiveConversation, written: readonly WrittenTurn[]): LiveConversation {
  const known = new Set(told.turns.flatMap(({ seq, isOpen }) => (isOpen ? [] : [seq])))
  const missing = written.filter(({ seq }) => !known.has(seq))
  const turns = missing.map((turn) => ({ ...turn, item_id: `written ${turn.seq}`, isOpen: false, response_ms: null }))
  return turns.length === 0 ? told : { ...told, turns: [...told.turns, ...turns].toSorted(inOrder) }
}

/** Without what was being said: of a call that is gone no event tells any more how that ended. */
export function withoutOpen(told: LiveConversation): LiveConversation {
  return { ...told, turns: told.turns.filter(({ isOpen }) => !isOpen) }
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** What says nothing of it leaves it as it is. */
function isStill(before: LiveConversation, data: Data): boolean {
  return data['taken_over'] === undefined && before.isTakenOver
}

function withWords(before: LiveConversation, data: Data): LiveConversation {
  const id = String(data['item_id'])
  const known = before.turns.find(({ item_id }) => item_id === id)
  if (known && !known.isOpen) return before
  const text = (known?.text ?? '') + String(data['text'])
  return placed(before, { ...(known ?? begun(id, data)), text })
}

function withTurn(before: LiveConversation, data: Data): LiveConversation {
  const id = String(data['item_id'])
  const known = before.turns.find(({ item_id }) => item_id === id)
  const { text, unheard, seq, start_ms, end_ms, interrupted, agent_name } = data
  return placed(before, {
    ...(known ?? begun(id, data)),
    ...{ text: textIn(text), unheard: textIn(unheard), interrupted: interrupted === true },
    agent_name: textIn(agent_name) || null,
    ...{ seq: Number(seq), start_ms: Number(start_ms), end_ms: Number(end_ms), isOpen: false },
  })
}

function begun(id: string, data: Data): LiveTurn {
  const role = data['role'] as LiveTurn['role']
  const nothing = { text: '', unheard: '', interrupted: false, response_ms: null, agent_name: null }
  return { ...nothing, item_id: id, role, seq: 0, start_ms: 0, end_ms: 0, isOpen: true }
}

/** In the order in which it was said; what goes on stands last. */
function placed(before: LiveConversation, given: LiveTurn): LiveConversation {
  const isAnswer = given.role === 'agent' && given.response_ms === null && before.nextResponseMs !== null
  const turn = isAnswer ? { ...given, response_ms: before.nextResponseMs } : given
  // What the same one says next comes behind the end of what they said: of what was left before, nobody was told that.
  const isPast = ({ item_id, role }: LiveTurn) => role === turn.role && before.left.includes(item_id)
  const others = before.turns.filter((other) => other.item_id !== turn.item_id && !isPast(other))
  const turns = [...others, turn].toSorted(inOrder)
  const left = before.left.filter((id) => others.some(({ item_id }) => item_id === id))
  return { ...before, turns, left, nextResponseMs: isAnswer ? null : before.nextResponseMs }
}

function inOrder(a: LiveTurn, b: LiveTurn): number {
  if (a.isOpen !== b.isOpen) return a.isOpen ? 1 : -1
  return a.isOpen ? 0 : a.start_ms - b.start_ms || a.seq - b.seq
}

/** It is told when the answer is heard first, whose words may have come before. */
function withLatency(before: LiveConversation, responseMs: number): LiveConversation {
  const answer = before.turns.findLast(({ role }) => role === 'agent')
  if (!answer?.isOpen || answer.response_ms !== null) return { ...before, nextResponseMs: responseMs }
  const turns = before.turns.map((turn) => (turn === answer ? { ...turn, response_ms: responseMs } : turn))
  return { ...before, turns }
}

function withTool(before: LiveConversation, data: Data): LiveConversation {
  const tool = { call_id: String(data['call_id']), name: String(data['name']), status: String(data['status']) }
  const isKnown = before.tools.some(({ call_id }) => call_id === tool.call_id)
  const tools = isKnown
    ? before.tools.map((known) => (known.call_id === tool.call_id ? tool : known))
    : [...before.tools, tool]
  return { ...before, tools }
}
