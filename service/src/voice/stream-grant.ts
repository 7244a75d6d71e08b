import type { AgentChoice } from '../agents/resolve.ts'
import type { AgentVersionId, TenantId } from '../kernel/ids.ts'
import type { CallDirection } from '../records/call-values.ts'
import { StreamRefusal, type StreamStart, UNAUTHENTICATED } from './media-stream.ts'
import type { TransferFault } from './session/events.ts'
import type { StreamClaims, StreamTokens } from './stream-token.ts'

const POLICY = 1008
/** Whoever listens sends no start. */
const LINE_BY_ADDRESS = 'a token to listen or to take over belongs in the address: ?stream_token='

/** What a socket has shown at its handshake; null: nothing, its start must. */
export type Shown = { type: 'token'; claims: StreamClaims } | { type: 'bearer'; tenantId: TenantId } | null

/** Whose call it is, and who is to speak: what the credential says. A null epoch: the call begins with this stream. */
export type Grant = {
  tenantId: TenantId
  callSid: string
  epoch: number | null
  direction: CallDirection
  choice: AgentChoice
  /** Why nobody took the call that the stream brings back; null where that is not known, or it was not to be put through. */
  notThrough: TransferFault | null
}

/**
 * What a stream may have, from what it has shown at its handshake or shows in its start; a token is used up by that.
 *
 * @throws StreamRefusal 4401 for a socket that has shown nothing good, 1008 for an internal client that names no agent.
 */
export async function grantOf(tokens: StreamTokens, start: StreamStart, shown: Shown): Promise<Grant> {
  if (shown?.type === 'bearer') return bearerGrant(shown.tenantId, start)
  const claims = shown?.claims ?? (await spentClaims(tokens, start.parameters['stream_token']))
  // A browser's stream has no carrier that knew the call before: its token alone says which it is.
  const isBound = claims.direction === 'browser' || claims.call_sid === start.callSid
  if (!isBound) throw new StreamRefusal(UNAUTHENTICATED, 'the token is for another call')
  const { tenant, call_sid, epoch, direction, agent_version_id: versionId, why: notThrough = null } = claims
  const choice = versionId === null ? null : { versionId }
  return { tenantId: tenant, callSid: call_sid, epoch, direction, choice, notThrough }
}

async function spentClaims(tokens: StreamTokens, token: string | undefined): Promise<StreamClaims> {
  const claims = token === undefined ? null : tokens.read(token)
  if (token !== undefined && tokens.readLine(token)) throw new StreamRefusal(UNAUTHENTICATED, LINE_BY_ADDRESS)
  if (!claims) throw new StreamRefusal(UNAUTHENTICATED, 'the stream has shown no good token')
  if (!(await tokens.spend(claims))) throw new StreamRefusal(UNAUTHENTICATED, 'the token was used before')
  return claims
}

/** An internal client says itself who is to speak, and what the call is called. */
function bearerGrant(tenantId: TenantId, { callSid, parameters }: StreamStart): Grant {
  const { agent_key: agentKey, agent_version_id: versionId } = parameters
  const choice = choiceOf(agentKey, versionId as AgentVersionId | undefined)
  if (!choice) throw new StreamRefusal(POLICY, 'the start names no agent_key')
  return { tenantId, callSid, epoch: null, direction: 'browser', choice, notThrough: null }
}

function choiceOf(agentKey: string | undefined, versionId: AgentVersionId | undefined): AgentChoice {
  if (versionId) return { versionId }
  return agentKey ? { agentKey } : null
}
