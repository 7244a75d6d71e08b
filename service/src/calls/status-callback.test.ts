import { describe, expect, it } from 'vitest'
import { readStatusCallback } from './status-callback.ts'

const RECEIVED = new Date('2030-01-01T00:01:00.500Z')
const SAID = {
  CallSid: 'CA1',
  AccountSid: 'AC1',
  CallStatus: 'completed',
  CallDuration: '55',
  Timestamp: 'Tue, 01 Jan 2030 00:01:00 +0000',
  SequenceNumber: '3',
}

function report(form: Record<string, string | undefined>) {
  return readStatusCallback({ CallSid: 'CA1', ...form }, RECEIVED)?.report
}

describe('a status callback', () => {
  it('is read with its time and duration, whatever else it says', () => {
    expect(readStatusCallback(SAID, RECEIVED)).toEqual({
      callSid: 'CA1',
      report: {
        ...{ status: 'completed', at: new Date('2030-01-01T00:01:00.000Z'), durationSeconds: 55 },
        ...{ answeredBy: null, errorCode: null, errorMessage: null },
      },
    })
  })

  it('is none without a call', () => {
    expect(readStatusCallback({ ...SAID, CallSid: '' }, RECEIVED)).toBeNull()
    expect(readStatusCallback({}, RECEIVED)).toBeNull()
  })

  it('may tell only who answered', () => {
    expect(report({ AnsweredBy: 'machine_start' })).toMatchObject({ status: null, answeredBy: 'machine_start' })
  })

  it('may tell why the call failed', () => {
    const failed = { CallStatus: 'failed', ErrorCode: '13227', ErrorMessage: 'No permission' }
    expect(report(failed)).toMatchObject({ status: 'failed', errorCode: '13227', errorMessage: 'No permission' })
  })

  it('may tell only what the telephone network answered to a call that failed', () => {
    expect(report({ CallStatus: 'failed', SipResponseCode: '404' })).toMatchObject({
      errorCode: 'sip_404',
      errorMessage: 'The telephone network answered SIP 404: it does not know the number.',
    })
    expect(report({ CallStatus: 'failed', SipResponseCode: '499' })).toMatchObject({
      errorCode: 'sip_499',
      errorMessage: 'The telephone network answered SIP 499.',
    })
  })

  it.each([
    ['the carrier has a number for it', { CallStatus: 'failed', SipResponseCode: '404', ErrorCode: '13227' }, '13227'],
    ['its status says it', { CallStatus: 'busy', SipResponseCode: '486' }, null],
    ['it was answered', { CallStatus: 'completed', SipResponseCode: '200' }, null],
    ['it is no answer', { CallStatus: 'failed', SipResponseCode: '200' }, null],
    ['it is not understood', { CallStatus: 'failed', SipResponseCode: 'none' }, null],
  ])('tells no more of the network where %s', (_why, form, errorCode) => {
    expect(report(form)).toMatchObject({ errorCode, errorMessage: null })
  })

  it.each([
    ['a status that nobody knows', { CallStatus: 'answered' }, { status: null }],
    ['empty fields', { CallStatus: '', CallDuration: '', AnsweredBy: '' }, { status: null, answeredBy: null }],
    ['what no column can hold', { ErrorMessage: 'a\0b', AnsweredBy: '\0' }, { errorMessage: 'ab', answeredBy: null }],
    [
      'endless texts',
      { ErrorMessage: 'x'.repeat(200_000), ErrorCode: 'y'.repeat(501), AnsweredBy: 'z'.repeat(30_000) },
      { errorMessage: 'x'.repeat(500), errorCode: 'y'.repeat(500), answeredBy: 'z'.repeat(500) },
    ],
    ['a duration that is none', { CallDuration: '-1' }, { durationSeconds: null }],
    ['an endless duration', { CallDuration: '99999999' }, { durationSeconds: null }],
    ['no time', {}, { at: RECEIVED }],
    ['a time that is none', { Timestamp: 'soon' }, { at: RECEIVED }],
    ['a time to come', { Timestamp: 'Tue, 01 Jan 2030 00:02:00 +0000' }, { at: RECEIVED }],
  ])('is taken as far as it is understood: %s', (_what, form, expected) => {
    expect(report(form)).toMatchObject(expected)
  })
})
