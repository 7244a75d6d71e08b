import type { Config } from '../../service/src/config.ts'
import { DEMO } from '../../service/src/demo.ts'
import { localAddress } from './addresses.ts'

/**
 * The commands that show and make the phone route by which the service knows who answers a number: without one a caller is
 * told that the number is not in service. They are for the shell, in the project's folder, on the service's machine.
 */
export function routeCommands(config: Pick<Config, 'port'>, phoneNumber: string): string[] {
  const key = `-H "x-admin-key: $(sed -n 's/^ADMIN_API_KEY=//p' .env)"`
  const routes = `${localAddress(config)}/api/v1/admin/tenants/${DEMO.tenantId}/phone-routes`
  const body = JSON.stringify({ phone_number: phoneNumber, agent_key: DEMO.agentKey })
  return [`curl -sS ${key} ${routes}`, `curl -sS ${key} -H 'content-type: application/json' ${routes} -d '${body}'`]
}
