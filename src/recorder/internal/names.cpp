#include "recorder/internal/names.h"

#include <cstring>

#include "recorder/internal/session.h"

namespace profline::recorder {
namespace {

constexpr std::size_t kSlots = std::size_t{2} * kMaxNames;
constexpr std::size_t kTextBytes = std::size_t{32} << 20;
/// Longer names are chunks of their own.
constexpr std::size_t kLongName = kStageBytes / 4;
constexpr std::size_t kShortWideName = 512;

// What programs get as a handle if the table is full.
Name lost_name{0, "", 0, {kLostName}};

struct Text {
  const char* data;
  std::uint32_t length;
  bool truncated;
};

std::uint64_t mixed(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15U;
  return value ^ value >> 32;
}

std::uint64_t hash_of(const Text& text) {
  const char* next = text.data;
  std::size_t left = text.length;
  std::uint64_t hash = left;
  for (; left >= 8; left -= 8, next += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, next, 8);
    hash = mixed(hash ^ word);
  }
  std::uint64_t word = 0;
  for (; left > 0; --left, ++next) word = word << 8 | static_cast<unsigned char>(*next);
  // A truncated name is not the same as the name that it was truncated to: their hashes differ.
  return mixed(hash ^ word) >> 1 | std::uint64_t{text.truncated} << 63;
}

Text text_of(const char* text) {
  if (text == nullptr) return {"", 0, false};
  const std::size_t length = strnlen(text, kNameBytes + 1);
  if (length <= kNameBytes) return {text, static_cast<std::uint32_t>(length), false};
  return {text, kNameBytes, true};
}

/// Writes the UTF-8 of a character; returns the number of bytes, or 0 if there is no room.
std::size_t encode(std::uint32_t code, char* at, std::size_t room) {
  const std::size_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  if (bytes > room) return 0;
  if (bytes == 1) {
    *at = static_cast<char>(code);
    return 1;
  }
  constexpr std::uint8_t kFirst[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (std::size_t i = bytes - 1; i > 0; --i, code >>= 6) {
    at[i] = static_cast<char>(0x80 | (code & 0x3f));
  }
  at[0] = static_cast<char>(kFirst[bytes] | code);
  return bytes;
}

/// UTF-8 of a wide string; what is not a character becomes U+FFFD. Stops in front of the character
/// that does not fit.
Text convert(const wchar_t* wide, char* buffer, std::size_t room) {
  std::size_t used = 0;
  for (; *wide != L'\0'; ++wide) {
    const auto code = static_cast<std::uint32_t>(*wide);
    const bool is_character = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    const std::size_t bytes = encode(is_character ? code : 0xfffd, buffer + used, room - used);
    if (bytes == 0) return {buffer, static_cast<std::uint32_t>(used), true};
    used += bytes;
  }
  return {buffer, static_cast<std::uint32_t>(used), false};
}

bool write_name(Session& session, std::uint32_t id, const Text& text) {
  const NameHeader header{id, text.length, text.truncated ? 1U : 0U, 0};
  const std::size_t bytes = sizeof header + padded_name_bytes(text.length);
  if (bytes > kLongName) return write_long_name(session, header, text.data);
  Stage& stage = session.names.stage;
  if (stage.chunk == nullptr) return false;
  if (stage.used + bytes > kStageBytes && !flush(session, stage, 0)) return false;
  char* const at = reinterpret_cast<char*>(stage.chunk) + stage.used;
  std::memcpy(at, &header, sizeof header);
  std::memcpy(at + sizeof header, text.data, text.length);
  stage.used += static_cast<std::uint32_t>(bytes);
  std::atomic_ref(stage.chunk->state).store(stage.lap | stage.used, std::memory_order_release);
  return true;
}

/// Adds a name at a free slot; null if the table or the file is full.
Name* add(Session& session, std::uint64_t hash, const Text& text, std::uint32_t& slot) {
  NameTable& names = session.names;
  if (names.count >= kMaxNames - kFirstName || names.text_used + text.length + 1 > kTextBytes) {
    return nullptr;
  }
  const std::uint32_t id = kFirstName + names.count;
  if (!write_name(session, id, text)) return nullptr;
  char* const copy = names.text + names.text_used;
  std::memcpy(copy, text.data, text.length);
  copy[text.length] = '\0';
  names.text_used += text.length + 1;
  Name& name = names.names[names.count++];
  name.hash = hash;
  name.text = copy;
  name.length = text.length;
  name.current.store(std::uint64_t{session.generation} << 32 | id, std::memory_order_release);
  slot = names.count;
  return &name;
}

/// The name with this content; null if it is new and there is no room. The lock is held.
Name* find_or_add(Session& session, std::uint64_t hash, const Text& text) {
  NameTable& names = session.names;
  if (names.slots == nullptr) return nullptr;
  for (std::size_t i = hash % kSlots;; i = (i + 1) % kSlots) {
    if (names.slots[i] == 0) return add(session, hash, text, names.slots[i]);
    Name& name = names.names[names.slots[i] - 1];
    if (name.hash == hash && name.length == text.length &&
        std::memcmp(name.text, text.data, text.length) == 0) {
      return &name;
    }
  }
}

Name* interned(Session& session, std::uint64_t hash, const Text& text) {
  const SlowPath slow;
  session.lock.lock();
  Name* const name = find_or_add(session, hash, text);
  session.lock.unlock();
  return name;
}

std::uint32_t count_lost_name(Session& session) {
  std::atomic_ref(session.header->names_lost).fetch_add(1, std::memory_order_relaxed);
  return kLostName;
}

/// The same for a name that this thread used before, without the lock; a text that is not in the
/// file has the number of a lost name.
CachedName cached_name(const Entry& entry, const Text& text) {
  if (text.length == 0) return {0, "", 0, kNoName};
  const std::uint64_t hash = hash_of(text);
  CachedName& cached = entry.lane().cache[hash % kCachedNames];
  if (cached.hash == hash && cached.length == text.length &&
      std::memcmp(cached.text, text.data, text.length) == 0) {
    return cached;
  }
  const Name* const name = interned(entry.session(), hash, text);
  if (name == nullptr) return {hash, "", 0, count_lost_name(entry.session())};
  cached = {hash, name->text, name->length,
            static_cast<std::uint32_t>(name->current.load(std::memory_order_relaxed))};
  return cached;
}

/// Calls `use` with the UTF-8 of a wide string; the lock is held if the string is long.
template <typename Use>
auto with_converted(Session& session, const wchar_t* wide, const Use& use) {
  char buffer[kShortWideName];
  const Text text = convert(wide, buffer, sizeof buffer);
  if (!text.truncated) return use(text, false);
  const SlowPath slow;
  session.lock.lock();
  auto result = use(convert(wide, session.names.scratch, kNameBytes), true);
  session.lock.unlock();
  return result;
}

}  // namespace

bool open_names(NameTable& names) {
  const std::size_t names_bytes = kMaxNames * sizeof(Name);
  const std::size_t slots_bytes = kSlots * sizeof(std::uint32_t);
  char* const memory =
      static_cast<char*>(map_memory(names_bytes + slots_bytes + kTextBytes + kNameBytes));
  if (memory == nullptr) return false;
  names.names = reinterpret_cast<Name*>(memory);
  names.slots = reinterpret_cast<std::uint32_t*>(memory + names_bytes);
  names.text = memory + names_bytes + slots_bytes;
  names.scratch = names.text + kTextBytes;
  return true;
}

std::uint32_t name_of(const Entry& entry, const char* text) {
  if (text == nullptr) return kNoName;
  const auto address = reinterpret_cast<std::uintptr_t>(text);
  CachedPointer& known = entry.lane().pointers[(address ^ address >> 8) % kCachedPointers];
  if (known.pointer == text && std::strcmp(known.text, text) == 0) return known.id;
  const Text content = text_of(text);
  const CachedName name = cached_name(entry, content);
  if (name.id != kLostName && !content.truncated) known = {text, name.text, name.id};
  return name.id;
}

std::uint32_t name_of(const Entry& entry, const wchar_t* text) {
  if (text == nullptr) return kNoName;
  return with_converted(entry.session(), text, [&](const Text& converted, bool locked) {
    if (!locked) return cached_name(entry, converted).id;
    const Name* const name = find_or_add(entry.session(), hash_of(converted), converted);
    if (name == nullptr) return count_lost_name(entry.session());
    return static_cast<std::uint32_t>(name->current.load(std::memory_order_relaxed));
  });
}

std::uint32_t name_of(const Entry& entry, Name* handle) {
  if (handle == nullptr) return kNoName;
  if (handle == &lost_name) return count_lost_name(entry.session());
  const std::uint64_t current = handle->current.load(std::memory_order_acquire);
  if (current >> 32 == entry.session().generation) return static_cast<std::uint32_t>(current);
  // Registered before this process was forked.
  const std::uint32_t id = cached_name(entry, {handle->text, handle->length, false}).id;
  handle->current.store(std::uint64_t{entry.session().generation} << 32 | id,
                        std::memory_order_release);
  return id;
}

Name* handle_of(const Entry& entry, const char* text) {
  if (!entry) return &lost_name;
  const Text found = text_of(text);
  Name* const name = interned(entry.session(), hash_of(found), found);
  return name != nullptr ? name : &lost_name;
}

Name* handle_of(const Entry& entry, const wchar_t* text) {
  if (!entry || text == nullptr) return handle_of(entry, "");
  return with_converted(entry.session(), text, [&](const Text& converted, bool locked) {
    const std::uint64_t hash = hash_of(converted);
    Name* const name = locked ? find_or_add(entry.session(), hash, converted)
                              : interned(entry.session(), hash, converted);
    return name != nullptr ? name : &lost_name;
  });
}

}  // namespace profline::recorder
