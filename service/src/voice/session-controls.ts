import type { CallSession } from './call-session.ts'
import type { LiveSession } from './live-sessions.ts'
import { customerOf } from './session-customer.ts'
import type { Speaker } from './session-speaker.ts'
import type { StreamedCall } from './streamed-call.ts'
import type { CallControls, ToolCall } from './tools/tool.ts'

/** What a tool may do to the call; `made` gives what the call is by then. */
export function controlsOf(speaker: Speaker, made: () => { session: CallSession; live: LiveSession }): CallControls {
  return {
    transfer: (request) => made().session.transfers.transfer(request, true),
    press: (keys) => made().session.press(keys),
    pauseRecording(isPaused) {
      const { session } = made()
      if (session.recording === 'off') return false
      session.dispatch({ type: 'pause_recording', isPaused })
      return true
    },
    escalated(target) {
      made().live.escalation = { target }
    },
    handOff(agent, { own, summary }) {
      const { session } = made()
      const { ending, takeover, transfer } = session.state
      if (ending || takeover || transfer || !session.isAttachable) return false
      speaker.become(agent, own)
      session.dispatch({ type: 'hand_off', plan: speaker.plan, agentName: agent.agentName, summary })
      return true
    },
  }
}

/** The call as its tools see it. */
export function toolCallOf(call: StreamedCall, controls: CallControls): ToolCall {
  const { tenant, agent, callSid, sessionId, streamSid } = call
  const customerPhone = customerOf(call)
  return { tenant, callSid, sessionId, streamSid, agentName: agent.agentName, customerPhone, controls }
}
