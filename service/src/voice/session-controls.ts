import type { CallSession } from './call-session.ts'
import { escalate } from './live-notes.ts'
import type { LiveSession } from './live-sessions.ts'
import { mayPressKeys } from './session/holding.ts'
import { customerOf } from './session-customer.ts'
import type { Speaker } from './session-speaker.ts'
import type { StreamedCall } from './streamed-call.ts'
import type { CallControls, ToolCall } from './tools/tool.ts'

/** What a tool may do to the call; `made` gives what the call is by then. */
export function controlsOf(
  call: StreamedCall,
  speaker: Speaker,
  made: () => { session: CallSession; live: LiveSession },
): CallControls {
  return {
    transfer: (request) => made().session.transfers.transfer(request, true),
    press(keys) {
      const { session } = made()
      if (!mayPressKeys(session.state)) return false
      session.dispatch({ type: 'press', keys })
      return true
    },
    pauseRecording(isPaused) {
      const { session } = made()
      if (session.recording === 'off') return false
      session.dispatch({ type: 'pause_recording', isPaused })
      return true
    },
    escalated(target) {
      escalate(made().live, target)
    },
    toolsCalled: () => made().session.toolsCalled(),
    handOff(agent, { own, clips, summary }) {
      const { session } = made()
      const { ending, takeover, transfer, phase } = session.state
      if (ending || takeover || transfer || !session.isAttachable || phase === 'waiting') return false
      speaker.become(agent, { own, clips })
      const { agentKey, agentName, versionId, versionNumber } = agent
      const wantsExtraction = agent.config.extraction !== null
      call.agent = agent
      call.handedTo = { agentKey, agentName, versionId, versionNumber, wantsExtraction }
      session.dispatch({ type: 'hand_off', plan: speaker.plan, agentName: agent.agentName, summary })
      return true
    },
  }
}

/** The call as its tools see it, whoever speaks by then, and by whatever stream. */
export function toolCallOf(call: StreamedCall, speaker: Speaker, controls: CallControls): ToolCall {
  const { tenant, callSid, sessionId } = call
  return {
    ...{ tenant, callSid, sessionId, customerPhone: customerOf(call), controls },
    get streamSid() {
      return call.streamSid
    },
    get agentName() {
      return speaker.agent.agentName
    },
  }
}
