import type { ModelEvent, ModelUsage } from '../port.ts'
import { answerFault } from './faults.ts'
import { count, id, type Json, MalformedEvent, object, wordOrNull } from './members.ts'

type Done = Extract<ModelEvent, { type: 'response_done' }>

const STATUSES: readonly Done['status'][] = ['completed', 'cancelled', 'failed', 'incomplete']

/**
 * How an answer ended, with what it cost; a cancelled one costs too. A rate limit is told here and nowhere else: unread,
 * it would be a call in silence. @throws MalformedEvent without an id or a known status.
 */
export function answerEnd(fields: Json): Done {
  const response = object(fields, 'response')
  const status = STATUSES.find((known) => known === response['status'])
  if (!status) throw new MalformedEvent('an answer ended in no known way')
  const errorCode = codeOf(status, object(response, 'status_details'))
  const fault = status === 'failed' ? answerFault(errorCode ?? '') : null
  return { type: 'response_done', responseId: id(response, 'id'), status, errorCode, fault, usage: usageOf(response) }
}

function codeOf(status: Done['status'], details: Json): string | null {
  if (status === 'incomplete') return wordOrNull(details, 'reason')
  if (status !== 'failed') return null
  const error = object(details, 'error')
  return wordOrNull(error, 'code') ?? wordOrNull(error, 'type') ?? 'unknown_error'
}

/** The seconds are not among what the server tells: they are counted from the audio. */
function usageOf(response: Json): ModelUsage {
  const usage = object(response, 'usage')
  const [input, output] = [object(usage, 'input_token_details'), object(usage, 'output_token_details')]
  const audioTokens = {
    input: count(input, 'audio_tokens'),
    output: count(output, 'audio_tokens'),
    cached: count(object(input, 'cached_tokens_details'), 'audio_tokens'),
  }
  const isTold = 'audio_tokens' in input && 'audio_tokens' in output
  return {
    inputTokens: count(usage, 'input_tokens'),
    outputTokens: count(usage, 'output_tokens'),
    cachedTokens: count(input, 'cached_tokens'),
    audioSeconds: 0,
    ...(isTold && { audioTokens }),
  }
}
