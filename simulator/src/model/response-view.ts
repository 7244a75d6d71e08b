import type { ResponseFailure } from './faults.ts'
import type { Item } from './items.ts'
import type { CancelReason, ResponseRequest, ResponseStatus } from './response-request.ts'
import type { Usage } from './usage.ts'

/** Why a response has the status that it has. */
export type StatusDetails = {
  type: ResponseStatus
  reason?: CancelReason | 'max_output_tokens' | 'content_filter'
  error?: { type: string; code: string; message: string }
}

/** How a response stands. */
export type ResponseState = {
  id: string
  status: ResponseStatus | 'in_progress'
  details: StatusDetails | null
  output: Item[]
  usage: Usage | null
}

const FAILURES: Record<Exclude<ResponseFailure, 'content_filter'>, { type: string; message: string }> = {
  rate_limit_exceeded: { type: 'tokens', message: 'Rate limit reached. Please try again in 1.2s.' },
  insufficient_quota: {
    type: 'insufficient_quota',
    message: 'You exceeded your current quota, please check your plan and billing details.',
  },
  server_error: { type: 'server_error', message: 'The server had an error while processing your request.' },
}

/** The details of a response of which nothing came, by its code. */
export function failureDetails(code: ResponseFailure): StatusDetails {
  if (code === 'content_filter') return { type: 'incomplete', reason: code }
  return { type: 'failed', error: { ...FAILURES[code], code } }
}

/** A response as events show it. */
export function responseView(request: ResponseRequest, state: ResponseState): Record<string, unknown> {
  return {
    object: 'realtime.response',
    id: state.id,
    status: state.status,
    status_details: state.details,
    output: structuredClone(state.output),
    conversation_id: request.conversationId,
    output_modalities: [request.modality],
    max_output_tokens: request.maxOutputTokens,
    audio: { output: { format: request.format, voice: request.voice } },
    usage: state.usage,
    metadata: request.metadata,
  }
}
