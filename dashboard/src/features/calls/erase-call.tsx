import { useQueryClient } from '@tanstack/react-query'
import { ConfirmAction } from '../../components/confirm-action.tsx'
import { Column } from '../../components/fields.tsx'
import { type CallLog, callQuery, callsKey, eraseSession, partiesText, voiceSessionQuery } from './call-queries.ts'

type EraseCallProps = { tenantId: string; call: CallLog; sessionId: string }

/** What the log of a call loses with its session. */
const LOST = { voice_session_id: null, summary: null, metadata: {} }

/** Erases what was said in a call that is over. The page shows it without that from then on, whatever can be read again. */
export function EraseCall({ tenantId, call, sessionId }: EraseCallProps) {
  const client = useQueryClient()

  async function erase(): Promise<void> {
    await eraseSession(tenantId, sessionId)
    client.setQueryData(callQuery(tenantId, call.call_sid ?? '').queryKey, (known) => known && { ...known, ...LOST })
    client.removeQueries({ queryKey: voiceSessionQuery(tenantId, sessionId).queryKey })
    // What other pages have read of it is read anew.
    client.removeQueries({ type: 'inactive' })
    await client.invalidateQueries({ queryKey: callsKey(tenantId) })
  }

  return (
    <ConfirmAction label="Erase what was said" about={partiesText(call)} isGrave onConfirm={erase}>
      <Column>
        <span>
          Gone for good are what was said and recorded, what the tools were told, the summary, the score, what was
          extracted, tags and metadata, the words of the callback tasks of the call and of what supervisors noted, and
          the events that tell of it. It cannot be taken back.
        </span>
        <span>
          The call stays in the list, with its numbers, times, status, agent and cost; so do its callback tasks, to be
          done.
        </span>
      </Column>
    </ConfirmAction>
  )
}
