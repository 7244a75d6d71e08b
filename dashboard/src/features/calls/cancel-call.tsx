import { useQueryClient } from '@tanstack/react-query'
import { useMay } from '../../api/session.ts'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { type CallLog, callQuery, callsKey, cancelCall, partiesText } from './call-queries.ts'

type CancelCallProps = { tenantId: string; call: CallLog }

const BEFORE_ANSWER = new Set<CallLog['status']>(['queued', 'initiated', 'ringing'])

/** Whether somebody's phone rings because of us, and nobody has answered yet. */
export function isRinging(call: CallLog): boolean {
  return call.direction === 'outbound' && call.call_sid !== null && BEFORE_ANSWER.has(call.status)
}

/** Gives up a call that was placed by mistake before anybody answers it. */
export function CancelCall({ tenantId, call }: CancelCallProps) {
  const mayCancel = useMay('operator')
  const client = useQueryClient()
  if (!mayCancel) return null

  async function cancel(): Promise<void> {
    const callSid = call.call_sid ?? ''
    client.setQueryData(callQuery(tenantId, callSid).queryKey, await cancelCall(tenantId, callSid))
    await client.invalidateQueries({ queryKey: callsKey(tenantId) })
  }

  return (
    <ConfirmAction label="Stop calling" about={partiesText(call)} isGrave onConfirm={cancel}>
      The phone stops ringing. If the call was placed for a task or a campaign, it may be placed again later.
    </ConfirmAction>
  )
}
