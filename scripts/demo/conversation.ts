import type { ServerEvent } from './event-stream.ts'

type TurnData = {
  item_id: string
  role: 'caller' | 'agent' | 'system' | 'supervisor'
  text: string
  start_ms: number
  interrupted: boolean
}
type ToolData = { name: string; status: 'started' | 'ok' | 'error' | 'timeout' }

const TIME_WIDTH = 8
const NAME_WIDTH = 8

/**
 * Turns the events of a live call into lines for people: each turn when it is over, how quickly the agent answered, what of an
 * interrupted answer nobody heard, the tools. Takes events in their order; what changes nothing gives no line.
 */
export class Conversation {
  readonly #names: Record<TurnData['role'], string>
  /** What was generated of each of the agent's items, heard or not. */
  readonly #generated = new Map<string, string>()
  readonly #told = new Map<string, string>()
  #responseMs: number | null = null

  constructor(agentName: string) {
    this.#names = { caller: 'caller', agent: agentName, system: 'system', supervisor: 'supervisor' }
  }

  take({ event, data }: ServerEvent): string[] {
    switch (event) {
      case 'turn_delta':
        this.#generate(String(data['item_id']), String(data['text']))
        return []
      case 'latency':
        this.#responseMs = Number(data['response_ms'])
        return []
      case 'turn':
        return this.#turn(data as TurnData)
      case 'tool':
        return toolLines(data as ToolData)
      case 'ended':
        return [line(null, '', `the session has ended: ${String(data['end_reason']).replaceAll('_', ' ')}`)]
      default:
        return []
    }
  }

  #generate(itemId: string, text: string): void {
    this.#generated.set(itemId, (this.#generated.get(itemId) ?? '') + text)
  }

  /** A turn is told again when words of it change, not when another one has moved it. */
  #turn(turn: TurnData): string[] {
    const known = this.#told.get(turn.item_id)
    if (known === turn.text) return []
    this.#told.set(turn.item_id, turn.text)
    const spoken = line(turn.start_ms, this.#names[turn.role], `${turn.text || '…'}${this.#remark(turn, known)}`)
    const unheard = turn.interrupted ? this.#unheard(turn) : ''
    return unheard === '' ? [spoken] : [spoken, line(null, '', `interrupted; not heard: "${unheard}"`)]
  }

  #remark({ role }: TurnData, known: string | undefined): string {
    if (known !== undefined) return '  (corrected)'
    if (role !== 'agent' || this.#responseMs === null) return ''
    const remark = `  (answered after ${this.#responseMs} ms)`
    this.#responseMs = null
    return remark
  }

  #unheard({ item_id: itemId, text }: TurnData): string {
    const whole = this.#generated.get(itemId) ?? ''
    return whole.startsWith(text) ? whole.slice(text.length).trim() : ''
  }
}

function toolLines({ name, status }: ToolData): string[] {
  return status === 'started' ? [] : [line(null, 'tool', `${name}: ${status === 'ok' ? 'done' : status}`)]
}

/** Times stand right, names left. */
function line(atMs: number | null, name: string, text: string): string {
  const at = atMs === null ? '' : `${(atMs / 1_000).toFixed(1)} s`
  return `${at.padStart(TIME_WIDTH)}  ${name.padEnd(NAME_WIDTH)} ${text}`
}
