import { DEMO } from './demo.ts'

/**
 * What `npm start` prints once the service answers: where it is, how to log in, what to try, how to go live.
 *
 * @param address the base address, without a slash at its end.
 */
export function welcome(address: string, adminEnabled: boolean, demo: boolean): string {
  const lines = ['', `Parley is running at ${address}`, '']
  if (adminEnabled) {
    lines.push(
      '  Log in    with the admin key: ADMIN_API_KEY in the file .env, sent as the header x-admin-key',
      `  Try       curl -H "x-admin-key: $(sed -n 's/^ADMIN_API_KEY=//p' .env)" ${address}/api/v1/admin/tenants`,
    )
  } else {
    lines.push('  Log in    is off: set ADMIN_API_KEY in the file .env (at least 16 characters) and start again')
  }
  if (demo) lines.push(`  Demo      tenant ${DEMO.tenantId}, agent ${DEMO.agentKey}, number ${DEMO.phoneNumber}`)
  lines.push('  Go live   docs/deployment.md: your own address, a PostgreSQL server, secrets', '  Stop      Ctrl-C', '')
  return lines.join('\n')
}
