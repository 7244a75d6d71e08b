import { Button, PasswordInput } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { type SubmitEvent, useState } from 'react'
import { useInvitation } from '../../api/session-changes.ts'
import { FailureState } from '../../components/failure-state.tsx'
import { Gate } from './gate.tsx'
import { placeAfterLogin } from './place-after-login.ts'

const SHORTEST = 12

/** Whoever was invited chooses a password. The secret is behind the #, which browsers send to nobody. */
export function InvitationPage() {
  const [token] = useState(() => new URLSearchParams(location.hash.slice(1)).get('token') ?? '')
  const [password, setPassword] = useState('')
  const invitation = useInvitation()
  const router = useRouter()

  function submit(event: SubmitEvent): void {
    event.preventDefault()
    const onSuccess = () => router.history.push(placeAfterLogin(undefined))
    invitation.mutate({ token, password }, { onSuccess })
  }

  return (
    <Gate title="Welcome to Parley">
      {token === '' ? (
        <p>This link is not whole: open it as it stands in the invitation, or ask for a new one.</p>
      ) : (
        <form onSubmit={submit}>
          <PasswordInput
            label="Choose a password"
            description={`At least ${SHORTEST} characters.`}
            autoComplete="new-password"
            minLength={SHORTEST}
            required
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          {invitation.error && <FailureState error={invitation.error} />}
          <Button type="submit" loading={invitation.isPending} fullWidth>
            Set the password and log in
          </Button>
        </form>
      )}
    </Gate>
  )
}
