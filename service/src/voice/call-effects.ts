import type { CallParts } from './call-parts.ts'
import { HOLD_CHORDS, HOLD_MUSIC } from './hold-music.ts'
import { keyTones } from './key-tones.ts'
import { BEEP, BEEP_ID } from './recording/beep.ts'
import type { SessionEffect, ToolOutcome } from './session/events.ts'
import type { ToolRequest } from './session-deps.ts'

type Effect<T extends SessionEffect['type']> = Extract<SessionEffect, { type: T }>
type Doing = { [T in SessionEffect['type']]: (parts: CallParts, effect: Effect<T>) => void }

/** Does what the reducer decided, with the parts of the call that it is about. @throws what they throw. */
export function doEffect(parts: CallParts, effect: SessionEffect): void {
  // The compiler does not follow that the entry of a type takes an effect of that type.
  const doing = DOING[effect.type] as (parts: CallParts, effect: SessionEffect) => void
  doing(parts, effect)
}

const DOING: Doing = {
  open_model: ({ models }, { epoch, history }) => models.open(epoch, history),
  close_model: ({ models }) => models.close(),
  open_next: ({ models }, { epoch, history }) => models.openNext(epoch, history),
  take_next: ({ models }) => models.takeNext(),
  close_next: ({ models }) => models.closeNext(),
  command: ({ models }, { command }) => models.current?.send(command),

  open_voice: ({ voice }, { id }) => voice?.open(id),
  speak: ({ voice }, effect) => voice?.speak(effect.id, effect),
  flush_voice: ({ voice }, { id }) => voice?.flush(id),
  end_voice: ({ voice }, { id }) => voice?.end(id),
  cut_voice: ({ voice }, { id }) => voice?.cut(id),

  open_uplink: openUplink,
  hold_uplink: ({ media }) => media.holdUplink(),
  discard: ({ media }, { responseIds }) => media.discard(responseIds),
  clear: ({ media }) => media.clear(),
  play_aside: playAside,
  drop_aside: ({ media }) => media.dropAside(),
  mark: ({ media }, { name }) => media.mark(name),
  pad: ({ media }, { ms }) => media.pad(ms),
  beep: ({ media }) => media.play(BEEP_ID, BEEP),
  play_hold: ({ media, deps }, effect) => media.playStretch(effect, deps.holdAudio ?? [HOLD_MUSIC]),
  play_chords: ({ media }, { id }) => media.play(id, HOLD_CHORDS),
  play_keys: ({ media }, { id, keys }) => media.play(id, keyTones(keys)),
  play_clip: ({ media, deps }, { id, index }) => media.playAll(id, deps.clips?.[index] ?? []),

  connect_person: ({ lines }, { id }) => lines.connect(id),
  silence_person: ({ lines }) => lines.silence(),
  dismiss_person: ({ lines }, { isMoving }) => lines.dismiss(isMoving ? 'broken' : 'ended'),

  begin_transfer: ({ transfers }) => transfers.begin(),
  cancel_transfer: ({ transfers }, { why }) => transfers.cancel(why),
  put_through: ({ transfers }) => transfers.putThrough(),

  detach: ({ streams }) => streams.letGo(),
  attach: ({ streams }) => streams.takeNext(),

  arm: ({ timers, lateMs }, { timer, ms }) => timers.arm(timer, ms - lateMs()),
  disarm: ({ timers }, { timer }) => timers.disarm(timer),

  run_tool: (parts, effect) => void runTool(parts, effect),
  refuse_tool: ({ deps }, { callId, name, argumentsText, atMs, output }) =>
    deps.refuseTool({ callId, name, argumentsText, atMs }, output),
  keep: ({ deps }, { turn }) => deps.keepTurn(turn),
  forget: ({ deps }, { itemId }) => deps.forgetTurn(itemId),
  note: ({ deps }, { note }) => deps.note(note),
  pause_recording: ({ deps }, { isPaused }) => deps.recorder?.pause(isPaused),
  apologise: ({ deps }, { type: _type, ...words }) => deps.apologise(words),
  hang_up: ({ deps }) => deps.hangUp(),
  checkpoint: ({ deps, state }) => deps.checkpoint?.(state()),
  finish: ({ finish }, { reason }) => finish(reason),
}

function openUplink({ models: { current }, media }: CallParts): void {
  if (current) media.openUplink(current)
}

function playAside({ media, dispatch }: CallParts, { id }: Effect<'play_aside'>): void {
  media.playAside(id)
  dispatch({ type: 'went_on' })
}

async function runTool(parts: CallParts, { callId, name, argumentsText, atMs }: Effect<'run_tool'>): Promise<void> {
  const outcome = await toolOutcome(parts, { callId, name, argumentsText, atMs })
  parts.dispatch({ type: 'tool_finished', outcome })
}

/** A tool that breaks its promise never to reject must not leave the model waiting for it. */
async function toolOutcome({ deps }: CallParts, request: ToolRequest): Promise<ToolOutcome> {
  try {
    return await deps.runTool(request)
  } catch (error) {
    deps.failed(error)
    return { callId: request.callId, output: '{"error":"The tool failed."}', status: 'error', endsCall: false }
  }
}
