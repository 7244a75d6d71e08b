import type { CallRecord } from './call-record.ts'

const PLACES = ['City', 'State', 'Zip', 'Country']

/** The fields that every webhook of a call carries; those of places are there and empty, as they often are. */
export function callForm(record: CallRecord): [string, string][] {
  const { accountSid, from, to, direction, parentSid } = record.identity
  return [
    ['CallSid', record.sid],
    ['AccountSid', accountSid],
    ['From', from],
    ['To', to],
    ['Caller', from],
    ['Called', to],
    ['CallStatus', record.status],
    ['ApiVersion', '2010-04-01'],
    ['Direction', direction],
    ...(direction === 'inbound' ? [['CallerName', ''] as [string, string]] : []),
    ...(parentSid ? [['ParentCallSid', parentSid] as [string, string]] : []),
    ...['From', 'To', 'Caller', 'Called'].flatMap((who) => PLACES.map((place): [string, string] => [who + place, ''])),
  ]
}
