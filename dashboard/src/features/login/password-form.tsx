import { Button, PasswordInput, TextInput } from '@mantine/core'
import { type SubmitEvent, useState } from 'react'
import { useLogin } from '../../api/session-changes.ts'
import { FailureState } from '../../components/failure-state.tsx'

/** A user name and a password. */
export function PasswordForm({ onDone }: { onDone?: () => void }) {
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const login = useLogin()

  function submit(event: SubmitEvent): void {
    event.preventDefault()
    login.mutate({ username, password }, { onSuccess: () => onDone?.() })
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
