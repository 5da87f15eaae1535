import { type CliOffer, type RouteName, routes } from '@tidemill/contract';

/** A command that follows from a row of the contract's routes. */
export interface OfferedCommand {
  route: RouteName;
  offer: CliOffer<unknown>;
  /** `loop score` */
  words: string[];
  arguments: { field: string; isOptional: boolean; isList: boolean }[];
}

export function offeredCommands(): OfferedCommand[] {
  return (Object.keys(routes) as RouteName[]).flatMap((route) =>
    [routes[route].cli ?? []].flat().map((offer) => {
      const parts = offer.usage.split(' ');
      const words = parts.filter((part) => /^\w/.test(part));
      const given = parts.filter((part) => !/^\w/.test(part));
      return {
        ...{ route, words, offer: offer as CliOffer<unknown> },
        arguments: given.map((part) => ({
          field: part.replace(/[<>[\].]/g, ''),
          isOptional: part.startsWith('['),
          isList: part.includes('...'),
        })),
      };
    }),
  );
}

/** The parts of an option's text: its own name or that of its field, its value, and its meaning. */
export function flagOf(field: string, text: string): { flag: string; fixed?: string; value: string; about: string } {
  const [, flag, fixed, value, about = ''] = /^(?:(--[a-z-]+)(?:=(\S+))? ?)?(?:<([^>]+)> )?(.*)$/s.exec(text) ?? [];
  const kebab = field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return { flag: flag ?? `--${kebab}`, value: value ?? field, about, ...(fixed === undefined ? {} : { fixed }) };
}
