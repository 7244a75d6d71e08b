import { listener } from '../carrier/caller-script.ts'
import { callerOf } from '../scenario/caller-of.ts'
import type { WrittenCaller } from '../scenario/scenario-shape.ts'
import { type Simulator, startSimulator } from '../simulator.ts'
import type { Command } from './options.ts'

type ServeCommand = Extract<Command, { command: 'serve' }>

/** Who answers where no party was named, so that a bridge can place calls without more ado. */
const ANYBODY = listener('Hello?')

/** Numbers at which a call goes otherwise, of those that are kept for fiction. */
const OTHERWISE: Record<string, WrittenCaller> = {
  '+12025550181': { answers: 'no-answer' },
  '+12025550182': { answers: 'busy' },
  '+12025550183': { machine: { greeting: 'You have reached our mailbox. Please leave a message after the tone.' } },
}

/** Starts the simulator and writes how to point a bridge at it, or with `--json` a line for programs. It runs until closed. */
export async function serve(command: ServeCommand, write: (text: string) => void): Promise<Simulator> {
  const { carrier, ...rest } = command.simulator
  const simulator = await startSimulator({ ...rest, carrier: { ...carrier, anybody: ANYBODY } })
  for (const [number, party] of Object.entries(OTHERWISE)) simulator.carrier.subscribe(number, callerOf(party))
  for (const { number, greeting } of command.parties) simulator.carrier.subscribe(number, listener(greeting))
  write(command.json ? `${JSON.stringify(addressesOf(simulator, command))}\n` : explanation(simulator, command))
  return simulator
}

/** Whoever started the program and reads this line can configure a bridge and steer the simulator. */
function addressesOf({ carrier, model }: Simulator, { simulator }: ServeCommand) {
  const { accountSid: account_sid, authToken: auth_token } = simulator.carrier
  return {
    carrier: { base_url: carrier.baseUrl, account_sid, auth_token },
    model: {
      url: model.url,
      base_url: model.baseUrl,
      voice_url: model.voiceUrl,
      api_key: simulator.model.apiKey ?? null,
    },
  }
}

function explanation(simulator: Simulator, command: ServeCommand): string {
  const { accountSid, authToken } = command.simulator.carrier
  const { apiKey } = command.simulator.model
  return `This is a rehearsal: no call leaves this machine, and the model does not understand speech.

carrier   REST base        ${simulator.carrier.baseUrl}
          account          ${accountSid}
          auth token       ${authToken}
model     websocket        ${simulator.model.url}
          chats            ${simulator.model.baseUrl}
          voices           ${simulator.model.voiceUrl}
          key              ${apiKey ?? 'any'}
          control          ${simulator.model.url.replace(/^ws(.*)\/v1\/realtime$/, 'http$1/control/sessions')}

Point the bridge's carrier client and model client at these, and its webhooks at itself. Ctrl-C stops it.
`
}
