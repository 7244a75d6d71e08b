import type { CallVerb } from '../platform/telephony/port.ts'
import type { StreamGrant, StreamTokens } from '../voice/stream-token.ts'

/** Where the carrier goes with a call: its stream, what happens to that, and who says what comes next when it is over. */
export type CallAddresses = { stream: string; streamStatus: string; resume: string }

/** Where a carrier asks what comes next for a call. The fragment tells it how often to try; it is never sent. */
export function resumeAddress(publicUrl: string): string {
  return `${publicUrl}/api/v1/call-resume#rc=3&rp=all`
}

type Deps = { tokens: StreamTokens; addresses: () => CallAddresses }

/** The stream, and behind it who says what comes next when the stream is over and the call is not. */
export function streamVerbs({ tokens, addresses }: Deps, grant: StreamGrant): CallVerb[] {
  const { stream, streamStatus, resume } = addresses()
  const parameters = { stream_token: tokens.issue(grant) }
  return [
    { type: 'connect_stream', url: stream, parameters, statusCallback: streamStatus },
    { type: 'redirect', url: resume },
  ]
}
