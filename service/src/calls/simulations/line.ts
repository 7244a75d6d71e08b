import type { ChatMessage } from '../../platform/chat/port.ts'
import type { SimulatedTurn } from '../../records/simulations/run-store.ts'

/** What was said in a simulated call: as it is kept, and as the agent's model is told it. */
export class Line {
  readonly turns: SimulatedTurn[] = []
  readonly messages: ChatMessage[] = []

  callerSays(text: string): void {
    this.turns.push({ role: 'caller', text, replyMs: null })
    this.messages.push({ role: 'user', text })
  }

  /** Something that the agent's model is told, as it is in a call. */
  note(text: string): void {
    this.turns.push({ role: 'system', text, replyMs: null })
    this.messages.push({ role: 'system', text })
  }

  /** Words that needed no model. */
  agentSaysExactly(text: string): void {
    this.messages.push({ role: 'assistant', text })
    this.agentSaid(text, null)
  }

  /** Words that are among the messages already. */
  agentSaid(text: string, replyMs: number | null): void {
    this.turns.push({ role: 'agent', text, replyMs })
  }
}
