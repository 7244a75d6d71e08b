import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { type SubmitEvent, useState } from 'react'
import { sessionQuery } from '../../api/session.ts'
import { useLogin } from '../../api/session-changes.ts'
import { FailureState } from '../../components/failure-state.tsx'
import { Gate } from './gate.tsx'
import { placeAfterLogin } from './place-after-login.ts'

/** Who are you? */
export function LoginPage() {
  const { data: session, error, refetch } = useQuery(sessionQuery)
  const { return_to: returnTo }: { return_to?: string } = useSearch({ strict: false })
  const place = placeAfterLogin(returnTo)
  return (
    <Gate title="Log in">
      {error && <FailureState error={error} onRetry={() => void refetch()} />}
      {session?.login_enabled && <PasswordForm place={place} />}
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

function PasswordForm({ place }: { place: string }) {
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const login = useLogin()
  const router = useRouter()

  function submit(event: SubmitEvent): void {
    event.preventDefault()
    login.mutate({ username, password }, { onSuccess: () => router.history.push(place) })
  }

  return (
    <form onSubmit={submit}>
      <TextInput
        label="User name or e-mail"
        autoComplete="username"
        required
        value={username}
        onChange={(event) => setUsername(event.currentTarget.value)}
      />
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      {login.error && <FailureState error={login.error} />}
      <Button type="submit" loading={login.isPending} fullWidth>
        Log in
      </Button>
    </form>
  )
}

function ssoAddress(authorizeUrl: string, place: string): string {
  return `${authorizeUrl}?${new URLSearchParams({ return_to: place })}`
}
