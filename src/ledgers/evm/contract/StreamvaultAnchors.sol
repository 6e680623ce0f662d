// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {Create2} from "@openzeppelin/contracts/utils/Create2.sol";
import {StreamvaultToken, TokenMaker} from "./StreamvaultToken.sol";

/// What a service anchors: a token for each vault, a contract for each asset, and roots of Merkle trees. All else is in
/// transactions and logs.
contract StreamvaultAnchors is ERC721, Ownable, TokenMaker {
    /// A root that stands on the ledger from this block on, and the intent that it is for (a uuid).
    event Anchored(bytes16 indexed intent, bytes32 root);

    /// The vault has a token already.
    error AlreadyMinted(uint128 vault);

    /// The asset stream has an asset already.
    error AlreadyIssued(uint128 stream);

    /// An asset while it is being made.
    struct Asset {
        string code;
        uint8 precision;
        uint256 supply;
    }

    /// What the addresses of assets depend on, besides this contract and their streams.
    bytes32 public constant tokenHash = keccak256(type(StreamvaultToken).creationCode);

    /// The block that the contract is in: there is nothing of it before.
    uint256 public immutable firstBlock = block.number;

    /// SHA-256 of the metadata of a vault: the changing part of their CID.
    mapping(uint256 token => bytes32 digest) private _digests;

    /// Empty but for the time that an asset is being made.
    Asset private _issuing;

    constructor(address owner) ERC721("Streamvault", "VAULT") Ownable(owner) {}

    /// @param root of the Merkle tree (RFC 6962) over CIDs
    function anchor(bytes32 root, bytes16 intent) external onlyOwner {
        emit Anchored(intent, root);
    }

    /// @param vault its uuid, which is the id of the token
    /// @param digest SHA-256 of its metadata, which are one raw block (CIDv1)
    function mint(uint128 vault, bytes32 digest, bytes32 root, bytes16 intent) external onlyOwner {
        if (_update(msg.sender, vault, address(0)) != address(0)) revert AlreadyMinted(vault);
        _digests[vault] = digest;
        emit Anchored(intent, root);
    }

    /// All of an asset goes to the owner.
    /// @param stream the uuid of its asset stream, which can have one at most
    /// @param supply in its smallest units
    function issue(
        uint128 stream,
        string calldata code,
        uint8 precision,
        uint256 supply,
        bytes32 root,
        bytes16 intent
    ) external onlyOwner {
        if (tokenOf(stream).code.length > 0) revert AlreadyIssued(stream);
        _issuing = Asset(code, precision, supply);
        new StreamvaultToken{salt: _salt(stream)}();
        delete _issuing;
        emit Anchored(intent, root);
    }

    /// Where the asset of a stream is, or would be.
    function tokenOf(uint128 stream) public view returns (address) {
        return Create2.computeAddress(_salt(stream), tokenHash);
    }

    function issuing() external view returns (string memory, uint8, uint256, address) {
        return (_issuing.code, _issuing.precision, _issuing.supply, owner());
    }

    function tokenURI(uint256 token) public view override returns (string memory) {
        _requireOwned(token);
        return string.concat("ipfs://b", _base32(abi.encodePacked(hex"01551220", _digests[token])));
    }

    function _salt(uint128 stream) private pure returns (bytes32) {
        return bytes32(uint256(stream));
    }

    /// RFC 4648, lower case and without padding, as multibase has it under `b`.
    function _base32(bytes memory data) private pure returns (string memory) {
        bytes memory alphabet = "abcdefghijklmnopqrstuvwxyz234567";
        bytes memory text = new bytes((data.length * 8 + 4) / 5);
        uint256 bits = 0;
        uint256 count = 0;
        uint256 filled = 0;
        for (uint256 i = 0; i < data.length; i++) {
            bits = (bits << 8) | uint8(data[i]);
            for (count += 8; count >= 5; count -= 5) {
                text[filled++] = alphabet[(bits >> (count - 5)) & 31];
            }
            bits &= 31;
        }
        if (count > 0) text[filled] = alphabet[(bits << (5 - count)) & 31];
        return string(text);
    }
}
