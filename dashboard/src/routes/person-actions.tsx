import { Menu } from '@mantine/core'
import { useRef, useState } from 'react'
import { usePerson } from '../api/session.ts'
import { useLogout } from '../api/session-changes.ts'
import { FailureState } from '../components/failure-state.tsx'
import { words } from '../components/text.ts'
import { useLeaving } from '../components/unsaved-changes.tsx'
import { PersonButton } from './person-button.tsx'
import styles from './person-menu.module.css'

/** Who is logged in, what they may, and the way out. It is open when it comes. */
export function PersonActions() {
  const { name, role } = usePerson()
  const logout = useLogout()
  const leave = useLeaving()
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(true)
  const focusButton = () => button.current?.focus()

  /** It would stand over the question, which gives the focus back to what is there still. */
  function makeWay(): void {
    setOpen(false)
    focusButton()
  }

  function goOn(): void {
    setOpen(true)
    logout.mutate()
  }

  return (
    <Menu position="bottom-end" width={220} opened={isOpen} onChange={setOpen} onClose={focusButton}>
      <Menu.Target>
        <PersonButton ref={button} />
      </Menu.Target>
      <Menu.Dropdown>
        <div className={styles.who}>
          <div className={styles.name}>{name}</div>
          <div className={styles.role}>{words(role)}</div>
        </div>
        <Menu.Divider />
        <Menu.Item component="a" href="/docs">
          Guides
        </Menu.Item>
        <Menu.Item closeMenuOnClick={false} disabled={logout.isPending} onClick={() => leave(goOn, makeWay)}>
          Log out
        </Menu.Item>
        {/* Whoever walks away from a shared machine has to know that they are still logged in. */}
        {logout.error && (
          <div className={styles.who}>
            <p>You are still logged in.</p>
            <FailureState error={logout.error} />
          </div>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
