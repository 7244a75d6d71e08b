import type { Line } from './brain.ts'

/** One item of a conversation, as the virtual model has it. */
export type Item = { id: string; line: Line | null; audioMs: number; call: { id: string; name: string } | null }

/** Of the agent, who has said nothing of it yet. */
export function agentItem(id: string): Item {
  return { id, line: { role: 'agent', text: '' }, audioMs: 0, call: null }
}

/** The `index`th of `count` pieces of a text. */
export function part(text: string, index: number, count: number): string {
  const at = (n: number): number => Math.floor((text.length * n) / count)
  return text.slice(at(index), at(index + 1))
}
