import type { NodeId } from '../../kernel/ids.ts'
import type { AudioBatch, LineEnd, WantedLine } from './line.ts'

/** What one node asks another about lines into its calls. The tenant is part of the question, and checked there. */
export type LineQuestion =
  | { type: 'open'; lineId: string; asker: NodeId; wanted: WantedLine }
  /** Whoever is on the line is still there. */
  | { type: 'renew'; lineId: string }
  | { type: 'close'; lineId: string; how: 'released' | 'lost' }

/** What goes over an open line: to whoever is on it, and from a person who speaks, as base64 µ-law. */
export type LineTold = { lineId: string; batch: AudioBatch } | { lineId: string; over: LineEnd }
export type LineSaid = { lineId: string; said: string }

/** Where a node is asked for lines, is told what goes over those that it opened, and what is said over those into its calls. */
export const linesTopic = (node: NodeId): string => `lines/${node}`
export const heardTopic = (node: NodeId): string => `line-heard/${node}`
export const saidTopic = (node: NodeId): string => `line-said/${node}`

/** Frames of a person that go between nodes as one message: 60 ms. */
export const FRAMES_PER_MESSAGE = 3
/** How often a line is renewed; without that it is gone after the longer time. */
export const RENEW_INTERVAL_MS = 1_000
export const LEASE_MS = 3_500

/** Joins base64 texts, each of which stands for whole bytes. */
export function joined(texts: readonly string[]): string {
  return Buffer.concat(texts.map((text) => Buffer.from(text, 'base64'))).toString('base64')
}
