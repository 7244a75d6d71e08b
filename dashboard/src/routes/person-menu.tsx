import { Menu, UnstyledButton } from '@mantine/core'
import { useLogout, usePerson } from '../api/session.ts'
import { words } from '../components/text.ts'
import styles from './person-menu.module.css'

/** Who is logged in, what they may, and the way out. */
export function PersonMenu() {
  const { name, role } = usePerson()
  const logout = useLogout()
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <UnstyledButton className={styles.person} aria-label={`Logged in as ${name}`}>
          {name.charAt(0).toUpperCase()}
        </UnstyledButton>
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
        <Menu.Item onClick={() => logout.mutate()}>Log out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
