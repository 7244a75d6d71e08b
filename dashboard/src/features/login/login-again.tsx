import { Button, Modal } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { readAllAgain, sessionQuery } from '../../api/session.ts'
import { Column } from '../../components/fields.tsx'
import { PasswordForm } from './password-form.tsx'

/** For a window that is seen all the while: all that ask without a session share what their address may ask, the login as well. */
const LOOK_AGAIN_MS = 60_000
/** Whoever comes by reads nothing of what stands below. */
const NOTHING_SHOWS = { color: 'var(--paper)', backgroundOpacity: 1 }

/** Asks for the login again over a page that stays as it is. */
export function LoginAgain({ isOpen }: { isOpen: boolean }) {
  const client = useQueryClient()
  useEffect(() => (isOpen ? () => void readAllAgain(client) : undefined), [isOpen, client])
  return (
    <Modal
      opened={isOpen}
      onClose={() => {}}
      title="Log in again"
      centered
      stackId="login"
      overlayProps={NOTHING_SHOWS}
      withCloseButton={false}
      closeOnClickOutside={false}
    >
      <Ways />
    </Modal>
  )
}

function Ways() {
  // Whoever logs in elsewhere, in another tab, is logged in here too when they come back to this one.
  const { data: session } = useQuery({
    ...sessionQuery,
    refetchInterval: LOOK_AGAIN_MS,
    refetchOnWindowFocus: 'always',
  })
  return (
    <Column>
      <p>Your session is over. The page goes on as it was, with what you have typed, when you are back.</p>
      {session?.login_enabled && <PasswordForm />}
      {session?.sso_authorize_url && (
        <>
          <p>Single sign-on opens in another tab. Come back to this one when you are logged in.</p>
          <Button component="a" variant="default" href={session.sso_authorize_url} target="_blank" rel="noopener">
            Log in with single sign-on
          </Button>
        </>
      )}
    </Column>
  )
}
