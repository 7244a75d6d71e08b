import { onTestFinished } from 'vitest'
import { type Simulator, startSimulator } from '../../simulator/src/simulator.ts'

/** The account and key of the tests; no log and no output may show the two secrets. */
export const ACCOUNT = { accountSid: 'AC00000000000000000000000000000001', authToken: 'a-secret-auth-token' }
export const API_KEY = 'sk-a-secret-model-key'
export const NUMBER = '+12025550123'

/** A carrier that owns one number, and a model, on free ports of this machine until the test is over. */
export async function startSimulated(): Promise<Simulator & { settings: Record<string, string> }> {
  const at = { host: '127.0.0.1', port: 0 }
  const simulator = await startSimulator({
    carrier: { ...at, ...ACCOUNT, numbers: ['+12025550124', NUMBER] },
    model: { ...at, apiKey: API_KEY },
  })
  onTestFinished(() => simulator.close())
  const settings = {
    TELEPHONY_ACCOUNT_SID: ACCOUNT.accountSid,
    TELEPHONY_AUTH_TOKEN: ACCOUNT.authToken,
    TELEPHONY_API_BASE_URL: simulator.carrier.baseUrl,
    OPENAI_API_KEY: API_KEY,
    OPENAI_REALTIME_URL: simulator.model.url,
  }
  return { ...simulator, settings }
}
