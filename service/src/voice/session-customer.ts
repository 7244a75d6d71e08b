import type { StreamedCall } from './streamed-call.ts'

/** The other side's number, as the call log has it. */
export function customerOf({ direction, from, to }: Pick<StreamedCall, 'direction' | 'from' | 'to'>): string {
  return direction === 'outbound' ? to : from
}
