import { describe, expect, it } from 'vitest'
import { costOf } from '../price.ts'
import { answerEnd } from './answer-end.ts'

const USAGE = {
  total_tokens: 150,
  input_tokens: 100,
  output_tokens: 50,
  input_token_details: {
    text_tokens: 40,
    audio_tokens: 60,
    image_tokens: 0,
    cached_tokens: 64,
    cached_tokens_details: { text_tokens: 14, audio_tokens: 50 },
  },
  output_token_details: { text_tokens: 10, audio_tokens: 40 },
}
const end = (response: object) => answerEnd({ type: 'response.done', response: { id: 'resp_1', ...response } })

describe('answerEnd', () => {
  it.each(['completed', 'cancelled'])('tells the usage of a %s answer', (status) => {
    const details = { type: status, reason: 'client_cancelled' }
    expect(end({ status, status_details: details, usage: USAGE })).toEqual({
      type: 'response_done',
      responseId: 'resp_1',
      status,
      errorCode: null,
      fault: null,
      usage: {
        ...{ inputTokens: 100, outputTokens: 50, cachedTokens: 64, audioSeconds: 0 },
        audioTokens: { input: 60, output: 40, cached: 50 },
      },
    })
  })

  it('counts what the model has reasoned once: it is among the text', () => {
    const details = { text_tokens: 74, audio_tokens: 40, reasoning_tokens: 64 }
    const { usage } = end({
      status: 'completed',
      usage: { ...USAGE, output_tokens: 114, output_token_details: details },
    })
    expect(usage).toMatchObject({ outputTokens: 114, audioTokens: { output: 40 } })
    const price = { text: { input: 0, cachedInput: 0, output: 24 }, audio: { input: 0, cachedInput: 0, output: 64 } }
    expect(costOf(price, usage) * 1_000_000).toBeCloseTo(74 * 24 + 40 * 64)
  })

  it.each([1.5, -3, Number.POSITIVE_INFINITY, '7', null])('counts no usage of %s', (tokens) => {
    const usage = { input_tokens: tokens, output_tokens: tokens, input_token_details: { cached_tokens: tokens } }
    expect(end({ status: 'completed', usage }).usage).toEqual({
      ...{ inputTokens: 0, outputTokens: 0, cachedTokens: 0, audioSeconds: 0 },
    })
  })

  it('tells a rate limit, which comes nowhere else', () => {
    const error = { type: 'tokens', code: 'rate_limit_exceeded', message: 'Please try again in 1.2s.' }
    expect(end({ status: 'failed', status_details: { type: 'failed', error }, usage: null })).toMatchObject({
      status: 'failed',
      errorCode: 'rate_limit_exceeded',
      fault: 'retry',
      usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
    })
  })

  it.each([
    [{ error: { type: 'insufficient_quota', code: 'insufficient_quota' } }, 'insufficient_quota', 'fatal'],
    [{ error: { type: 'server_error' } }, 'server_error', 'retry'],
    [null, 'unknown_error', 'retry'],
  ])('of a failure with %j is %s, %s', (details, errorCode, fault) => {
    expect(end({ status: 'failed', status_details: details })).toMatchObject({ errorCode, fault })
  })

  it('tells why an answer is not whole', () => {
    const details = { type: 'incomplete', reason: 'max_output_tokens' }
    expect(end({ status: 'incomplete', status_details: details })).toMatchObject({
      status: 'incomplete',
      errorCode: 'max_output_tokens',
      fault: null,
    })
  })
})
