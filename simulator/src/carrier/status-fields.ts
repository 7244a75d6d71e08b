import { type CallRecord, isOver } from './call-record.ts'

const SIP_CODES: Partial<Record<CallRecord['status'], string>> = {
  completed: '200',
  busy: '486',
  'no-answer': '487',
  canceled: '487',
  failed: '404',
}

/** The fields that a status callback carries beside those of every webhook. */
export function statusFields(
  record: CallRecord,
  { sequence, now }: { sequence: number; now: Date },
): [string, string][] {
  return [
    ...(isOver(record.status) ? endFields(record) : []),
    ...(record.answeredBy ? [['AnsweredBy', record.answeredBy] as [string, string]] : []),
    ['Timestamp', now.toUTCString().replace('GMT', '+0000')],
    ['CallbackSource', 'call-progress-events'],
    ['SequenceNumber', String(sequence)],
  ]
}

function endFields(record: CallRecord): [string, string][] {
  const seconds = record.durationSeconds
  return [
    ['CallDuration', String(seconds)],
    ['Duration', String(Math.ceil(seconds / 60))],
    ['SipResponseCode', SIP_CODES[record.status] ?? '200'],
  ]
}
