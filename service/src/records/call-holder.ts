import type { NodeId } from '../kernel/ids.ts'

/**
 * By what a stream has its call: the epoch that it was given. While the call is about to change hands, `next` are those who may
 * have it by now without its being known here. They count for the same call as long as the directory names just them: another
 * node may have been given the same epoch.
 */
export type CallHolder = { readonly epoch: number; readonly next?: readonly NextHolder[] }

/** Who is to have a call next: a stream on this node, or, null, nobody until another one begins. */
export type NextHolder = { readonly epoch: number; readonly owner: NodeId | null }

/** Whether the call is still that of the stream's, by the call's row of the directory. */
export function isHeldBy(row: { epoch: number; owner: NodeId | null }, { epoch, next = [] }: CallHolder): boolean {
  return row.epoch === epoch || next.some((holder) => holder.epoch === row.epoch && holder.owner === row.owner)
}
