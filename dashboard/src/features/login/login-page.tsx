import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { sessionQuery } from '../../api/session.ts'
import { FailureState } from '../../components/failure-state.tsx'
import { Gate } from './gate.tsx'
import { PasswordForm } from './password-form.tsx'
import { placeAfterLogin } from './place-after-login.ts'

/** Who are you? */
export function LoginPage() {
  const { data: session, error, refetch } = useQuery(sessionQuery)
  const { return_to: returnTo }: { return_to?: string } = useSearch({ strict: false })
  const place = placeAfterLogin(returnTo)
  const router = useRouter()
  const client = useQueryClient()
  const goOn = () => {
    const now = client.getQueryData(sessionQuery.queryKey)
    router.history.push(placeAfterLogin(returnTo, now?.tenant_id))
  }
  return (
    <Gate title="Log in">
      {error && <FailureState error={error} onRetry={() => void refetch()} />}
      {session?.login_enabled && <PasswordForm onDone={goOn} />}
      {session?.sso_authorize_url && (
        <Button component="a" variant="default" href={ssoAddress(session.sso_authorize_url, place)} fullWidth>
          Log in with single sign-on
        </Button>
      )}
      {session && !session.login_enabled && !session.sso_enabled && (
        <p>
          Nobody can log in here yet. Set ADMIN_USERNAME and ADMIN_PASSWORD in the settings of the service and start it
          again; <a href="/docs/admin">the guide</a> says more.
        </p>
      )}
    </Gate>
  )
}

function ssoAddress(authorizeUrl: string, place: string): string {
  return `${authorizeUrl}?${new URLSearchParams({ return_to: place })}`
}
